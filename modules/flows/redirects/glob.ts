/**
 * The patterns of AUTH_URI_ALLOW_LIST: `*` is any run without `.` or `/`, `**` is anything, `?` one character that is
 * neither, `[abc]`, `[a-c]` and `[!a]` are classes, a backslash takes the next character as it is. A pattern with `://`
 * is compared part by part: scheme, host, port and the rest, each as the parser of the URL standard found it. Compared
 * as a whole, `*` could match from the host into a port or a query.
 */
import { domainToASCII } from 'node:url'

import { normalizeUri } from '../../../schemas/values/uris.ts'

/** Whether a pattern matches this address; `written` is the address as it was sent, without its fragment. */
export type Glob = (url: URL, written: string) => boolean

interface Parts {
  scheme: string[]
  host: string[]
  /** Undefined: the default port of the scheme. */
  port: string[] | undefined
  rest: string[]
}

const defaultPorts: Record<string, string> = { 'http:': '80', 'https:': '443' }

export function compileGlob(pattern: string): Glob {
  const isMatch = compilePattern(pattern)
  // An address without wildcards. After a host a question mark would be matched as a character of the host; in a URL it
  // starts the query.
  const address = /[*[\]]/.test(pattern) ? pattern : (normalizeUri(pattern) ?? pattern)
  return (url, written) =>
    written === pattern || normalizeUri(written) === address || isMatch(url, written)
}

function compilePattern(pattern: string): Glob {
  const tokens = pattern.match(/\\.|\*\*|\*|\?|\[!?[^\]]+\]|[\s\S]/gu) ?? []
  const parts = split(tokens)
  if (parts) return compileParts(parts)
  const whole = compile(tokens)
  // Such a pattern has no host: for a web URL it would allow every host.
  return (url, written) => (!(url.protocol in defaultPorts) || pattern === '**') && whole(written)
}

function split(tokens: string[]): Parts | undefined {
  const colon = tokens.findIndex((_, at) => tokens.slice(at, at + 3).join('') === '://')
  if (colon < 0) return undefined
  const scheme = tokens.slice(0, colon)
  const after = tokens.slice(colon + 3)
  const end = after.findIndex((token) => ['/', '\\/', '\\?'].includes(token))
  if (end >= 0) return { scheme, ...splitPort(after.slice(0, end)), rest: after.slice(end) }
  if (after.at(-1) !== '**') return { scheme, ...splitPort(after), rest: [] }
  return { scheme, ...splitTrailingWildcard(after), rest: ['**'] }
}

function splitPort(authority: string[]): Pick<Parts, 'host' | 'port'> {
  const colon = authority.lastIndexOf(':')
  if (colon < 0) return { host: inAscii(authority), port: undefined }
  return { host: inAscii(authority.slice(0, colon)), port: authority.slice(colon + 1) }
}

/** Labels without a wildcard, as the URL standard serializes them (UTS 46). */
function inAscii(host: string[]): string[] {
  const dot = host.indexOf('.')
  const label = dot < 0 ? host : host.slice(0, dot)
  const isUnicode = label.some((letter) => /^[^\0-\x7f]$/u.test(letter))
  const isLiteral = label.every((letter) => [...letter].length === 1 && !'*?'.includes(letter))
  const ascii = isUnicode && isLiteral ? [...domainToASCII(label.join(''))] : label
  return dot < 0 ? ascii : [...ascii, '.', ...inAscii(host.slice(dot + 1))]
}

/** A trailing `**` matches what follows the host, and does not extend the host: `https://example.com**`. */
function splitTrailingWildcard(authority: string[]): Pick<Parts, 'host' | 'port'> {
  const { host, port } = splitPort(authority)
  if (port) return { host, port }
  return { host: host.length === 1 ? host : host.slice(0, -1), port: ['**'] }
}

function compileParts({ scheme, host, port, rest }: Parts): Glob {
  const [isScheme, isHost, isRest] = [compile(scheme), compile(host), compile(rest)]
  const isHostInAnyCase = compile(host, 'ui')
  const isPort = port && compile(port)
  return (url, written) => {
    const [start, writtenScheme = '', authority = ''] =
      /^([a-z][a-z0-9+.-]*):\/\/([^/?]*)/i.exec(written) ?? []
    if (start === undefined || authority.includes('@') || !isScheme(writtenScheme)) return false
    const standard = defaultPorts[url.protocol]
    if (!(standard === undefined ? isHost : isHostInAnyCase)(url.hostname)) return false
    const matchesPort = isPort ? isPort(url.port || (standard ?? '')) : url.port === ''
    return matchesPort && isRest(written.slice(start.length))
  }
}

function compile(tokens: string[], flags: 'u' | 'ui' = 'u'): (text: string) => boolean {
  const expression = new RegExp(`^${tokens.map(translate).join('')}$`, flags)
  return (text) => expression.test(text)
}

function translate(token: string): string {
  if (token === '**') return '.*'
  if (token === '*') return '[^./]*'
  if (token === '?') return '[^./]'
  if (token.length > 2 && token.startsWith('[')) return translateClass(token)
  return literal(token.length === 2 && token.startsWith('\\') ? token.slice(1) : token)
}

function translateClass(token: string): string {
  const negated = token.startsWith('[!')
  const members = token.slice(negated ? 2 : 1, -1).replace(/[\\\]^]/g, '\\$&')
  return `[${negated ? '^./' : ''}${members}]`
}

function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
}
