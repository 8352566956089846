/** A provider's error text, made safe for the log. */

/** In characters. */
const maxLength = 500

const hidden = '[…]'

/** JSON and form fields with secret values. */
const secretFields =
  /("?\b(?:[a-z_]*token|[a-z_]*secret|code|code_verifier|client_assertion|assertion|password)"?\s*[=:]\s*"?)[^"&\s,;}]+/gi
const addresses = /[^\s"'<>@:=]+@[^\s"'<>@,;]+/g
/** Keys, tokens and codes: long, or digits only. */
const keyLike = /(?=[\w+/=.~-]*\d)[\w+/=.~-]{20,}|\d{6,}/g

/**
 * Removes what was sent to the provider, tokens, codes, phone numbers and email addresses. Returns one line of at most
 * 500 characters.
 */
export function quoted(text: string, sent: readonly (string | undefined)[] = []): string {
  const secrets = sent.flatMap((secret) => (secret ? [secret, encodeURIComponent(secret)] : []))
  const line = secrets
    .reduce((words, secret) => words.replaceAll(secret, hidden), text.slice(0, 4 * maxLength))
    .replace(secretFields, `$1${hidden}`)
    .replace(addresses, hidden)
    .replace(keyLike, hidden)
    .replace(/\s+/g, ' ')
    .trim()
  return line.length <= maxLength ? line : `${line.slice(0, maxLength - 1)}…`
}
