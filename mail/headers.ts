/** Custom headers of every email (AUTH_SMTP_HEADERS). */
import { type EmailKind, emailKindDefinitions } from './kinds/index.ts'

export type MailHeaders = Record<string, string[]>

/** Returns the headers of one email, with `$messageType` replaced. */
export function headersFor(
  kind: EmailKind,
  headers: MailHeaders,
): { key: string; value: string }[] {
  const { messageType } = emailKindDefinitions[kind]
  return Object.entries(headers).flatMap(([key, values]) =>
    values.map((value) => ({ key, value: value.replaceAll('$messageType', messageType) })),
  )
}
