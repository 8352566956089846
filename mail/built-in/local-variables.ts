/** What only the language of the reader can say: names, dates, plural categories. */
import type { Speech } from '../languages/language.ts'

/**
 * The variables of a mail, with what they are called in its language. Templates of operators may use them as well:
 * `Locale`, `ProviderName`, `FactorName`, `DeviceName`, `When`, and by variable the plural category in `Plural`.
 */
export function localVariables(
  variables: object,
  { tag, texts }: Speech,
  providerTitles: ReadonlyMap<string, string>,
): object {
  const { names } = texts
  const { Provider, FactorType, Device, SignedInAt, Remaining }: Spoken = variables
  const ways = new Map(Object.entries({ email: names.email, phone: names.phone }))
  const factors = new Map(
    Object.entries({ totp: names.totp, phone: names.phone_factor, webauthn: names.webauthn }),
  )
  return {
    ...variables,
    Locale: tag,
    ...(Provider !== undefined && {
      // Providers that the operator named keep the name they have.
      ProviderName: ways.get(Provider) ?? providerTitles.get(Provider) ?? Provider,
    }),
    ...(FactorType !== undefined && { FactorName: factors.get(FactorType) ?? FactorType }),
    ...(Device !== undefined && { DeviceName: Device || names.unknown_device }),
    ...(SignedInAt !== undefined && { When: moment(SignedInAt, tag) }),
    ...(Remaining !== undefined && { Plural: { Remaining: category(Remaining, tag) } }),
  }
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

/** In UTC, as nobody knows where the reader is. */
function moment(iso: string, tag: string): string {
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
    // As the code and the address in the same mail are written.
    numberingSystem: 'latn',
  }).format(date)
}
