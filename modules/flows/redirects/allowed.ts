/** The allow list of redirect targets, which receive a session. */
import { domainToASCII, domainToUnicode } from 'node:url'

import ipaddr from 'ipaddr.js'

import { normalizeUri } from '../../../schemas/values/uris.ts'

export interface RedirectRules {
  siteUrl: string
  globs: readonly Glob[]
  /** Development mode: any loopback address is allowed. */
  allowLoopback: boolean
  /** The callback page of this server. */
  ownCallback?: string
}

const activeSchemes = ['javascript:', 'data:', 'vbscript:', 'blob:', 'file:', 'about:']

/** Whether the scheme executes or contains content; no pattern and no OAuth client may have it. */
export function hasActiveScheme({ protocol }: URL): boolean {
  return activeSchemes.includes(protocol)
}

export function isAllowedRedirect(target: string, rules: RedirectRules): boolean {
  const url = parse(target)
  if (!url || hasActiveScheme(url)) return false
  if (rules.ownCallback && target.split(/[?#]/, 1)[0] === rules.ownCallback) return true
  if (isOnSite(url, rules.siteUrl)) return true
  const isWeb = url.protocol === 'http:' || url.protocol === 'https:'
  if (isWeb && !isPlainHost(url.hostname)) return false
  if (isWeb && rules.allowLoopback && isLoopback(url.hostname)) return true
  const written = target.split('#', 1)[0] ?? ''
  return !hasDotSegment(written) && rules.globs.some((glob) => glob(url, written))
}

/** Browsers resolve dot segments, so that the requested path differs from the matched one (URL standard §4.4). */
function hasDotSegment(written: string): boolean {
  return /\/(\.|%2e){1,2}(\/|$)/i.test(written.split('?', 1)[0] ?? '')
}

/**
 * Undefined for anything that two parsers might read differently: user info, backslashes, blanks, control characters.
 */
function parse(target: string): URL | undefined {
  if (target.length > 2048 || !target.isWellFormed()) return undefined
  if (/[\s\\\p{Cc}]/u.test(target)) return undefined
  const url = URL.parse(target)
  if (!url || url.username || url.password) return undefined
  const isWeb = url.protocol === 'http:' || url.protocol === 'https:'
  // A host must follow two slashes.
  if (isWeb && !isHost(parseHost(target), url.hostname)) return undefined
  return url
}

function parseHost(target: string): string | undefined {
  const authority = /^https?:\/\/(\[[^\]]+\]|[^/:?#]+)/i.exec(target)?.[1]
  return authority?.toLowerCase()
}

/** The name itself, or its Unicode form (UTS 46). Characters that the conversion folds may look like another host. */
function isHost(written: string | undefined, hostname: string): boolean {
  return written === hostname || written?.normalize('NFC') === domainToUnicode(hostname)
}

/** The site's host, with its scheme or https, at any port: one owner serves all ports. */
function isOnSite(url: URL, siteUrl: string): boolean {
  const site = new URL(siteUrl)
  const schemes = [site.protocol, 'https:']
  return site.hostname !== '' && url.hostname === site.hostname && schemes.includes(url.protocol)
}

/** A name, or a loopback address; a pattern never allows another IP address. */
function isPlainHost(host: string): boolean {
  if (isLoopback(host)) return true
  if (ipaddr.isValid(host.replace(/^\[|\]$/g, ''))) return false
  return /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(host)
}

function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '')
  if (bare === 'localhost') return true
  return ipaddr.isValid(bare) && ipaddr.parse(bare).range() === 'loopback'
}

/** Whether a pattern matches this address; `written` is the address as it was sent, without its fragment. */
type Glob = (url: URL, written: string) => boolean

interface Parts {
  scheme: string[]
  host: string[]
  /** Undefined: the default port of the scheme. */
  port: string[] | undefined
  rest: string[]
}

const defaultPorts: Record<string, string> = { 'http:': '80', 'https:': '443' }

/**
 * A pattern of AUTH_URI_ALLOW_LIST: `*` is any run without `.` or `/`, `**` is anything, `?` one character that is
 * neither, `[abc]`, `[a-c]` and `[!a]` are classes, a backslash takes the next character as it is. A pattern with `://`
 * is compared part by part: scheme, host, port and the rest, each as the parser of the URL standard found it. Compared
 * as a whole, `*` could match from the host into a port or a query.
 */
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
