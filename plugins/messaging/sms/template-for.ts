import type { Languages } from '../../localization/languages/index.ts'
import type { SmsConfig } from './choose-provider.ts'

/** The custom template for all languages; when unset, the text in the recipient's language. */
export function templateFor(
  config: SmsConfig,
  { messagesFor, tagFor }: Pick<Languages, 'messagesFor' | 'tagFor'>,
  variable: 'AUTH_SMS_TEMPLATE' | 'AUTH_MFA_PHONE_TEMPLATE',
  reader: Readonly<Record<string, unknown>>,
): string {
  if (config.given.has(variable)) return config[variable]
  return messagesFor(tagFor(reader)).texts.text_messages.code
}
