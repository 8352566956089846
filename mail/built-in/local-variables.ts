/** Variables that depend on the language: names, dates, plural categories. */
import type { LocalizedMessages } from '../languages/language.ts'

/**
 * Adds localized variables, which custom templates may use too: `Locale`, `ProviderName`, `FactorName`, `DeviceName`,
 * `When`, and in `Plural` the plural category of each numeric variable.
 */
export function localVariables(
  variables: object,
  { tag, texts }: LocalizedMessages,
  providerTitles: ReadonlyMap<string, string>,
): object {
  const { names } = texts
  const { Provider, FactorType, Device, SignedInAt, Remaining }: Spoken = variables
  const providerNames = new Map(Object.entries({ email: names.email, phone: names.phone }))
  const factors = new Map(
    Object.entries({
      totp: names.totp,
      phone: names.phone_factor,
      webauthn: names.webauthn,
      recovery_code: names.recovery_codes,
    }),
  )
  return {
    ...variables,
    Locale: tag,
    ...(Provider !== undefined && {
      // Providers that are not translated keep their name.
      ProviderName: providerNames.get(Provider) ?? providerTitles.get(Provider) ?? Provider,
    }),
    ...(FactorType !== undefined && { FactorName: factors.get(FactorType) ?? FactorType }),
    ...(Device !== undefined && { DeviceName: Device || names.unknown_device }),
    ...(SignedInAt !== undefined && { When: formatTime(SignedInAt, tag) }),
    ...(Remaining !== undefined && { Plural: { Remaining: category(Remaining, tag) } }),
  }
}

const namesByVariable: Record<string, string> = {
  Provider: 'ProviderName',
  FactorType: 'FactorName',
  Device: 'DeviceName',
  SignedInAt: 'When',
  Remaining: 'Plural',
}

/** The names that localVariables adds to these variables. */
export function localNames(variables: readonly string[]): string[] {
  return ['Locale', ...variables.flatMap((name) => namesByVariable[name] ?? [])]
}

interface Spoken {
  Provider?: string
  FactorType?: string
  Device?: string
  SignedInAt?: string
  Remaining?: string
}

function category(count: string, tag: string): string {
  return new Intl.PluralRules(tag).select(Number(count))
}

/** In UTC: the reader's time zone is unknown. */
function formatTime(iso: string, tag: string): string {
  const date = new Date(iso)
  if (Number.isNaN(date.getTime())) return iso
  return new Intl.DateTimeFormat(tag, {
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
    timeZone: 'UTC',
    timeZoneName: 'short',
    // The same digits as the code and the address in the email.
    numberingSystem: 'latn',
  }).format(date)
}
