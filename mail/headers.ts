/** The operator's own headers on every mail (AUTH_SMTP_HEADERS). */
import { type MailKind, mailKinds } from './kinds.ts'

export type MailHeaders = Record<string, string[]>

// Headers that the mail itself has to tell the truth with.
const reserved =
  /^(?:from|to|cc|bcc|sender|subject|date|message-id|mime-version|content-.*|received|return-path|dkim-signature)$/i

/**
 * Reads `{"name": ["value", ...]}`.
 * Throws an Error whose message says what is wrong, to stand behind the name of the setting.
 */
export function parseMailHeaders(json: string): MailHeaders {
  let headers: unknown
  try {
    headers = JSON.parse(json)
  } catch {
    throw new Error('is not JSON; expected {"name": ["value"]}')
  }
  if (typeof headers !== 'object' || headers === null || Array.isArray(headers)) {
    throw new Error('must be an object: {"name": ["value"]}')
  }
  return Object.fromEntries(
    Object.entries(headers).map(([name, values]) => {
      checkName(name)
      return [name, checkValues(name, values)]
    }),
  )
}

/** The headers of one mail, `$messageType` filled in. */
export function headersFor(kind: MailKind, headers: MailHeaders): { key: string; value: string }[] {
  const { messageType } = mailKinds[kind]
  return Object.entries(headers).flatMap(([key, values]) =>
    values.map((value) => ({ key, value: value.replaceAll('$messageType', messageType) })),
  )
}

function checkName(name: string) {
  // RFC 5322 section 2.2: printable US-ASCII without the colon.
  if (!/^[!-9;-~]+$/.test(name)) throw new Error(`has a header name that is not one: "${name}"`)
  if (reserved.test(name)) throw new Error(`cannot set the header "${name}"`)
}

function checkValues(name: string, values: unknown): string[] {
  const isValue = (value: unknown): value is string =>
    typeof value === 'string' && !/\p{Cc}/u.test(value)
  if (!Array.isArray(values) || !values.every(isValue)) {
    throw new Error(`must hold a list of one-line strings for the header "${name}"`)
  }
  return values
}
