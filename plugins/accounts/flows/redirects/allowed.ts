/** Which addresses a person may be sent back to with a session in hand. */
import ipaddr from 'ipaddr.js'

import type { Glob } from './glob.ts'

export interface RedirectRules {
  siteUrl: string
  globs: readonly Glob[]
  /** Development mode: any loopback address is somebody's own machine. */
  allowLoopback: boolean
}

/** These run or carry content by themselves; no pattern lets them through. */
const activeSchemes = ['javascript:', 'data:', 'vbscript:', 'blob:', 'file:', 'about:']

export function isAllowedRedirect(target: string, rules: RedirectRules): boolean {
  const url = parse(target)
  if (!url || activeSchemes.includes(url.protocol)) return false
  if (isOnSite(url, rules.siteUrl)) return true
  const isWeb = url.protocol === 'http:' || url.protocol === 'https:'
  if (isWeb && !isPlainHost(url.hostname)) return false
  if (isWeb && rules.allowLoopback && isLoopback(url.hostname)) return true
  const written = target.split('#', 1)[0] ?? ''
  return !hasDotSegment(written) && rules.globs.some((glob) => glob(url, written))
}

/** Browsers resolve these, so that the path they ask for is not the one a pattern saw (URL standard §4.4). */
function hasDotSegment(written: string): boolean {
  return /\/(\.|%2e){1,2}(\/|$)/i.test(written.split('?', 1)[0] ?? '')
}

/** Undefined for anything that two parsers might read differently: user info, backslashes, blanks, controls. */
function parse(target: string): URL | undefined {
  if (target.length > 2048 || !target.isWellFormed()) return undefined
  if (/[\s\\\p{Cc}]/u.test(target)) return undefined
  const url = URL.parse(target)
  if (!url || url.username || url.password) return undefined
  const isWeb = url.protocol === 'http:' || url.protocol === 'https:'
  // A host that only becomes ASCII by conversion may look like another one; a host elsewhere than behind two slashes is none.
  if (isWeb && hostOf(target) !== url.hostname) return undefined
  return url
}

function hostOf(target: string): string | undefined {
  const authority = /^https?:\/\/(\[[^\]]+\]|[^/:?#]+)/i.exec(target)?.[1]
  return authority?.toLowerCase()
}

/** The site's host by its own scheme or https, at any port: whoever serves the host serves them all. */
function isOnSite(url: URL, siteUrl: string): boolean {
  const site = new URL(siteUrl)
  const schemes = [site.protocol, 'https:']
  return site.hostname !== '' && url.hostname === site.hostname && schemes.includes(url.protocol)
}

/** A name, or a loopback address; a pattern never opens another machine by its bare address. */
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
