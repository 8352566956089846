/** The operator's own headers on every mail (AUTH_SMTP_HEADERS). */
import { type MailKind, mailKinds } from './kinds.ts'

export type MailHeaders = Record<string, string[]>

/** The headers of one mail, `$messageType` filled in. */
export function headersFor(kind: MailKind, headers: MailHeaders): { key: string; value: string }[] {
  const { messageType } = mailKinds[kind]
  return Object.entries(headers).flatMap(([key, values]) =>
    values.map((value) => ({ key, value: value.replaceAll('$messageType', messageType) })),
  )
}
