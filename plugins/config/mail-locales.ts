/** The variables of mails in one language, whose names only the operator knows (mail/locale-settings.ts). */
import { localeSettingPattern } from '../../mail/locale-settings.ts'
import { text } from './fields.ts'

/** Values under such names. */
export type MailLocaleValues = {
  [name: `AUTH_MAILER_TEMPLATES_${string}`]: string | undefined
  [name: `AUTH_MAILER_SUBJECTS_${string}`]: string | undefined
}

/** The variables of this kind that are set, under our prefix. */
export function mailLocaleNames(variables: Iterable<string>): string[] {
  const ours = [...variables].map((name) => name.replace(/^GOTRUE_/, 'AUTH_'))
  return [...new Set(ours)].filter((name) => localeSettingPattern.test(name)).sort()
}

/** How each of them is read. */
export const mailLocaleField = text('Template or subject of a mail in one language.', {
  'x-group': 'Texts of mail',
})
