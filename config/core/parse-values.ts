/** Parsers of structured values; `undefined` means invalid. */
import { isIP } from 'node:net'

import { parseDuration } from '../../schemas/values/duration.ts'
import { isRecord } from '../../schemas/values/record.ts'

const hour = 3600
/** The remaining count is stored in 32 bits, and combined with a second rate while the rate changes. */
const maxCounted = 1_000_000_000

/** `30` is thirty per hour, `5/10m` five per ten minutes. */
export function parseRate(text: string): { count: number; seconds: number } | undefined {
  const [, count, time] = /^(\d+)(?:\/(.+))?$/.exec(text) ?? []
  if (count === undefined) return undefined
  try {
    const seconds = time === undefined ? hour : parseDuration(time)
    return seconds > 0 ? { count: Math.min(Number(count), maxCounted), seconds } : undefined
  } catch {
    return undefined
  }
}

export function parseMap(text: string, sign: string): Record<string, string> | undefined {
  const entries: [string, string][] = []
  for (const entry of text.split(',')) {
    const at = entry.lastIndexOf(sign)
    const name = entry.slice(0, at).trim()
    const value = entry.slice(at + 1).trim()
    if (entry.trim() === '') continue
    if (at < 1 || name === '' || value === '') return undefined
    entries.push([name, value])
  }
  return Object.fromEntries(entries)
}

export function parseKeyMap(text: string, key: RegExp): Record<string, string> | undefined {
  const keys = parseMap(text, ':')
  return keys && Object.values(keys).every((value) => key.test(value)) ? keys : undefined
}

/** Numbers are compared as stored: digits only, without the leading +. */
export function parseTestCodes(text: string): Record<string, string> | undefined {
  const codes = parseMap(text, ':')
  if (codes === undefined) return undefined
  const entries = Object.entries(codes).map(
    ([phone, code]) => [phone.replace(/[\s+]/g, ''), code] as const,
  )
  const valid = entries.every(
    ([phone, code]) => /^[1-9]\d{1,14}$/.test(phone) && /^\d+$/.test(code),
  )
  return valid ? Object.fromEntries(entries) : undefined
}

export function parseCharacterSets(text: string): string[] {
  return text
    .split(/(?<!\\):/)
    .map((set) => set.replaceAll('\\:', ':'))
    .filter((set) => set !== '')
}

export function parseHeaders(text: string): Record<string, string[]> | undefined {
  const parsed = parseJsonSetting(text)
  if (!isRecord(parsed)) return undefined
  const entries = Object.entries(parsed).map(([name, value]) => [name, [value].flat()] as const)
  const valid = entries.every(([name, values]) => headerName.test(name) && values.every(isLine))
  return valid ? Object.fromEntries(entries.map(([n, v]) => [n, v.filter(isLine)])) : undefined
}

/** Host names or IP addresses: a JSON array, or separated by commas. */
export function parseJsonHosts(text: string): string[] | undefined {
  const hosts = text.startsWith('[') ? parseJsonSetting(text) : text.split(',')
  if (!Array.isArray(hosts) || !hosts.every((host) => typeof host === 'string')) return undefined
  const names = hosts.map((host) => host.trim()).filter((host) => host !== '')
  const isHost = (name: string) => isIP(name) > 0 || hostName.test(name.replace(/\.$/, ''))
  return names.every(isHost) ? names : undefined
}

export function parseJwks(text: string): unknown[] | undefined {
  const parsed = parseJsonSetting(text)
  const keys = isRecord(parsed) ? parsed.keys : parsed
  return Array.isArray(keys) && keys.every(isRecord) ? keys : undefined
}

export function parseTime(text: string): Date | undefined {
  const rfc3339 = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/
  const date = new Date(text)
  return rfc3339.test(text) && !Number.isNaN(date.getTime()) ? date : undefined
}

/** `none`, or addresses and networks such as `10.0.0.0/8`. */
export function parseNetworks(text: string): string[] | undefined {
  if (text.toLowerCase() === 'none') return []
  const entries = text.split(',').map((entry) => entry.trim())
  const networks = entries.filter((entry) => entry !== '')
  return networks.every(isNetwork) ? networks : undefined
}

function isNetwork(text: string): boolean {
  const [, address = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const widths: Record<number, number> = { 4: 32, 6: 128 }
  const width = widths[isIP(address)]
  return width !== undefined && !address.includes('%') && Number(bits ?? 0) <= width
}

export const hostName = /^[A-Za-z0-9._-]+(:\d{1,5})?$/
export const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/** A line break in a header value would start another header. */
function isLine(value: unknown): value is string {
  return typeof value === 'string' && !/[\r\n\0]/.test(value)
}

/** Undefined for invalid JSON. */
export function parseJsonSetting(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
