/** What a provider said when it refused, fit for the log. */

/** Characters. */
const longest = 500

const hidden = '[…]'

/** Fields of JSON and of forms whose values open something. */
const secretFields =
  /("?\b(?:[a-z_]*token|[a-z_]*secret|code|code_verifier|client_assertion|assertion|password)"?\s*[=:]\s*"?)[^"&\s,;}]+/gi
const addresses = /[^\s"'<>@:=]+@[^\s"'<>@,;]+/g
/** Keys, tokens and codes: long, or made of digits. */
const keyLike = /(?=[\w+/=.~-]*\d)[\w+/=.~-]{20,}|\d{6,}/g

/**
 * The words without what was sent to the provider, what looks like a token, a code or a number, and addresses of people;
 * in one line of at most 500 characters.
 */
export function quoted(text: string, sent: readonly (string | undefined)[] = []): string {
  const secrets = sent.flatMap((secret) => (secret ? [secret, encodeURIComponent(secret)] : []))
  const line = secrets
    .reduce((words, secret) => words.replaceAll(secret, hidden), text.slice(0, 4 * longest))
    .replace(secretFields, `$1${hidden}`)
    .replace(addresses, hidden)
    .replace(keyLike, hidden)
    .replace(/\s+/g, ' ')
    .trim()
  return line.length <= longest ? line : `${line.slice(0, longest - 1)}…`
}
