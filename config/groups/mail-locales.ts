/** Email variables of one language, whose names contain the language (mail/locale-settings.ts). */
import { localeSettingPattern, readLocaleSetting } from '../../mail/locale-settings.ts'
import { textField } from '../core/fields.ts'

/** Values of such variables. */
export type MailLocaleValues = {
  [name: `AUTH_MAILER_TEMPLATES_${string}`]: string | undefined
  [name: `AUTH_MAILER_SUBJECTS_${string}`]: string | undefined
}

/** The variables of this kind that are set, under our prefix. */
export function mailLocaleNames(variables: Iterable<string>): string[] {
  const ours = [...variables].map((name) => name.replace(/^GOTRUE_/, 'AUTH_'))
  return [...new Set(ours)].filter((name) => localeSettingPattern.test(name)).sort()
}

/** Their schema. */
export const mailLocaleField = textField('Template or subject of a mail in one language.', {
  'x-group': 'Email texts',
})

/** Variables of unused languages, because AUTH_LANGUAGES_ENABLED is false. */
export function mailLocalesWithoutEffect(config: {
  AUTH_LANGUAGES_ENABLED: boolean
  AUTH_DEFAULT_LOCALE: string
  given: ReadonlySet<string>
}): string[] {
  if (config.AUTH_LANGUAGES_ENABLED) return []
  const used = `${config.AUTH_DEFAULT_LOCALE}-`
  return [...config.given].filter((name) => {
    const setting = readLocaleSetting(name)
    return setting !== undefined && !used.startsWith(`${setting.tag}-`)
  })
}
