/**
 * Converts a variable's text to its value: one function per `x-type`. A parser returns `undefined` for invalid text.
 */
import type { TSchema } from '@sinclair/typebox'

import { canonical, tagOfFile } from '../../mail/languages/tags.ts'
import { parseDuration } from '../../schemas/values/duration.ts'
import { nearestName } from '../../schemas/values/nearest-name.ts'
import { databaseUrl, databaseUrls } from './parse-database-url.ts'
import {
  headerName,
  hostName,
  parseCharacterSets,
  parseHeaders,
  parseJsonHosts,
  parseJwks,
  parseKeyMap,
  parseMap,
  parseNetworks,
  parseRate,
  parseTestCodes,
  parseTime,
} from './parse-values.ts'
import { parseWebhookEndpoints } from './values.ts'

type Parser = (text: string, schema: TSchema) => unknown

const booleans = new Map([
  ...['true', '1', 't', 'yes', 'on'].map((word) => [word, true] as const),
  ...['false', '0', 'f', 'no', 'off'].map((word) => [word, false] as const),
])

const key = /^[A-Za-z0-9_-]{43}=?$/
const address = /^[^\s@<>,]+@[^\s@<>,]+$/
/**
 * Limited so that the name with `_jobs` is not truncated, which would make both schemas one. Postgres reserves the
 * prefix pg_ and information_schema.
 */
const schemaName = /^(?!pg_|information_schema$)[a-z_][a-z0-9_]{0,57}$/
const hookSecret = /^v1,whsec_[A-Za-z0-9+/_-]{32,86}={0,2}$/

const only = (pattern: RegExp) => (text: string) => (pattern.test(text) ? text : undefined)
const every = (pattern: RegExp, sign: string) => (text: string) => {
  const entries = split(text, sign)
  return entries.every((entry) => pattern.test(entry)) ? entries : undefined
}

export const parsers: Record<string, Parser> = {
  text: (text) => text,
  bool: (text) => booleans.get(text.toLowerCase()),
  whole: (text) => (/^[+-]?\d+$/.test(text) ? Number(text) : undefined),
  number: (text) => (/^[+-]?(\d+(\.\d*)?|\.\d+)$/.test(text) ? Number(text) : undefined),
  duration,
  list: (text) => split(text, ','),
  choice: (text, schema) => choice(schema['x-synonyms']?.[text.toLowerCase()] ?? text, schema.enum),
  choices: (text, schema) => choices(text, schema.items.enum),
  url: (text) => httpUrl(text)?.replace(/\/+$/, ''),
  link: httpUrl,
  site: absoluteUrl,
  'postgres-url': databaseUrl,
  'postgres-urls': databaseUrls,
  'redis-url': (text) => normalizeUrl(text, ['redis:', 'rediss:']),
  'hook-uri': (text) => normalizeUrl(text, ['https:', 'http:', 'pg-functions:']),
  'schema-name': only(schemaName),
  prefix: (text) => (/^(\/[\w.~-]+)*\/?$/.test(text) ? text.replace(/\/$/, '') : undefined),
  header: only(headerName),
  'header-names': every(headerName, ','),
  hosts: every(hostName, ','),
  'json-hosts': parseJsonHosts,
  address: only(address),
  'secret-bytes': (text) => text,
  key: only(key),
  keys: every(key, ','),
  'hook-secrets': every(hookSecret, '|'),
  pem: (text) => text.replaceAll('\\n', '\n'),
  rate: parseRate,
  map: (text, schema) => parseMap(text, schema['x-sign'] ?? ':'),
  'key-map': (text) => parseKeyMap(text, key),
  'test-codes': parseTestCodes,
  'character-sets': parseCharacterSets,
  headers: parseHeaders,
  jwks: parseJwks,
  moment: parseTime,
  networks: parseNetworks,
  webhooks: parseWebhookEndpoints,
  locale: canonical,
  languages: parseLanguages,
}

/** Seconds. Node replaces a longer timeout by one millisecond. */
const maxTimerMs = Math.floor((2 ** 31 - 1) / 1000)

function duration(text: string, schema: TSchema): number | undefined {
  try {
    const seconds = parseDuration(text)
    return schema['x-timer'] ? Math.min(seconds, maxTimerMs) : seconds
  } catch {
    return undefined
  }
}

function choice(text: string, words: string[]): string | undefined {
  return words.find((word) => word.toLowerCase() === text.toLowerCase())
}

function choices(text: string, words: string[]): string[] | undefined {
  const chosen = split(text, ',').map((entry) => choice(entry, words))
  return chosen.every((word) => word !== undefined) ? chosen : undefined
}

function split(text: string, sign: string): string[] {
  return text
    .split(sign)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
}

/** The text itself when it is an absolute address of one of these schemes. */
function normalizeUrl(text: string, schemes: readonly string[]): string | undefined {
  const parsed = URL.parse(text)
  return parsed !== null && schemes.includes(parsed.protocol) ? text : undefined
}

/** The text if it is an http or https URL with a host. */
function httpUrl(text: string): string | undefined {
  // The URL parser accepts a missing slash; other programs that read the value may not.
  return /^https?:\/\/[^/]/i.test(text) ? normalizeUrl(text, ['http:', 'https:']) : undefined
}

/** The text if it has a scheme and a host; custom schemes of apps need no host, and are not a misspelt http or https. */
function absoluteUrl(text: string): string | undefined {
  if (/^https?:/i.test(text)) return httpUrl(text)
  const scheme = /^([a-z][a-z0-9+.-]*):\//i.exec(text)?.[1]?.toLowerCase()
  if (scheme === undefined || nearestName(scheme, ['https'], 1)) return undefined
  return URL.canParse(text) ? text : undefined
}

/** Files or URLs that are named after a language; undefined for others. */
function parseLanguages(text: string): string[] | undefined {
  const entries = text.split(',').map((entry) => entry.trim())
  const named = entries.filter((entry) => entry !== '')
  return named.every((entry) => tagOfFile(entry) !== undefined) ? named : undefined
}
