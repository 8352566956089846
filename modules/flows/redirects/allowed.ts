/** The allow list of redirect targets, which receive a session. */
import { domainToUnicode } from 'node:url'

import ipaddr from 'ipaddr.js'

import type { Glob } from './glob.ts'

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
