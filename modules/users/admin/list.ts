/** Pages of the list of users, with their totals, by a search text. */
import type { FastifyInstance } from 'fastify'
import { LRUCache } from 'lru-cache'

import { exactCountLimit } from '../../../db/core/paging.ts'
import {
  type Cursor,
  endOfTime,
  listFiltered,
  listPage,
  type UserFilter,
} from '../../../db/users/list.ts'
import {
  countInSmallTable,
  countListed,
  estimateListed,
  hasOwner,
  hasTrigramIndex,
  type Listing,
  type UserSearch,
} from '../../../db/users/search.ts'
import { validationFailed } from '../../../schemas/errors.ts'
import { isUuid } from '../../../schemas/fields.ts'
import { listedUsersJson } from '../../../schemas/listed-user.ts'
import type { RequestedNumberedPage, Total } from '../../../schemas/pagination.ts'

interface PageOfUsers {
  /** JSON. */
  body: Buffer
  total: Total
  hasNext: boolean
}

interface PageAfter {
  /** JSON. */
  body: Buffer
  /** Start of the next page; absent on the last one. */
  cursor?: string
}

/** The cache of estimates per audience: an estimate takes half as long as a page. */
const estimateCache = { max: 100, ttl: 60_000 }

/** Positions in the list are cached for clients that read page after page. */
const positionCache = { max: 1_000, ttl: 60_000 }

/** State of the list between requests. */
interface ListState {
  /** The last row before a page far from the first, by audience, direction and number of rows before it. */
  positions: LRUCache<string, Cursor>
  /** By audience. */
  estimates: LRUCache<string, number>
  /** Counts the users of an audience; null in a large table. */
  countUsers: (aud: string) => Promise<number | null>
  /** Whether substrings are indexed; undefined before the first look-up. */
  isIndexed: boolean | undefined
}

export const createListState = ({ readDb }: Pick<FastifyInstance, 'readDb'>): ListState => ({
  positions: new LRUCache(positionCache),
  estimates: new LRUCache(estimateCache),
  countUsers: shareCalls((aud) =>
    countInSmallTable(readDb, { aud, direction: 'desc', search: undefined }),
  ),
  isIndexed: undefined,
})

/**
 * A page by number. Where totals are only estimated, a page after one that was read within a minute starts where that
 * page ended: at the same cost for any number, and without repeating or omitting users when others are created or
 * deleted.
 */
export async function listUserPage(
  app: FastifyInstance,
  listing: Listing,
  { number, size }: RequestedNumberedPage,
): Promise<PageOfUsers> {
  const { positions, countUsers } = app.users.listState
  const offset = (number - 1) * size
  const after = listing.search ? undefined : positions.get(placeKey(listing, offset))
  const window = { offset: after ? 0 : offset, size, after }
  const [rows, users] = await Promise.all([
    listPage(app.readDb, listing, window),
    listing.search ? null : countUsers(listing.aud),
  ])
  const hasNext = rows.length > size
  const last = hasNext ? rows[size - 1] : undefined
  if (last && !listing.search && offset + size > exactCountLimit) {
    positions.set(placeKey(listing, offset + size), { createdAt: last.place, id: last.id })
  }
  const seen = rows.length > 0 ? offset + rows.length : 0
  const isLast = !hasNext && (seen > 0 || number === 1)
  const total = isLast
    ? { count: seen, exact: true }
    : await countTotal(app, listing, { seen, users })
  const body = listedUsersJson(rows.slice(0, size), { aud: listing.aud })
  return { body, total: { ...total, exact: total.exact && !after }, hasNext }
}

const placeKey = ({ aud, direction }: Listing, offset: number) => `${direction} ${offset} ${aud}`

interface Counts {
  /** Up to the end of the page; 0 for a page beyond the last. */
  seen: number
  /** Of a list without a search in a small table. */
  users: number | null
}

async function countTotal(
  app: FastifyInstance,
  listing: Listing,
  { seen, users }: Counts,
): Promise<Total> {
  const counted = await countMatches(app, listing, { seen, users })
  if (counted !== null && counted <= exactCountLimit) return { count: counted, exact: true }
  const estimated = await estimateTotal(app, listing)
  return { count: Math.max(estimated, counted ?? 0, seen), exact: false }
}

async function countMatches(
  { readDb }: FastifyInstance,
  listing: Listing,
  { seen, users }: Counts,
) {
  if (seen === 0) return countListed(readDb, listing)
  return listing.search ? countInSmallTable(readDb, listing) : users
}

async function estimateTotal(app: FastifyInstance, listing: Listing): Promise<number> {
  if (listing.search) return estimateListed(app.readDb, listing)
  const { estimates } = app.users.listState
  const known = estimates.get(listing.aud)
  if (known !== undefined) return known
  const estimated = await estimateListed(app.readDb, listing)
  estimates.set(listing.aud, estimated)
  return estimated
}

/** The page after a cursor, at a constant cost. Throws validation_failed. */
export async function listUsersAfter(
  { readDb: db }: FastifyInstance,
  listing: Listing,
  cursor: string | undefined,
  size: number,
  filter?: UserFilter,
): Promise<PageAfter> {
  const place = { after: readCursor(cursor), size }
  const rows = filter
    ? await listFiltered(db, listing, filter, place)
    : await listPage(db, listing, { ...place, offset: 0 })
  const users = rows.slice(0, size)
  const last = users.at(-1)
  const next = last && rows.length > size && { cursor: toCursor(last.place, last.id) }
  const { aud } = listing
  const link = next && { next_cursor: next.cursor }
  const pagination = { ...link, has_more: rows.length > size }
  const body = listedUsersJson(users, { aud, ...link, pagination })
  return { body, ...next }
}

function toCursor(createdAt: number, id: string): string {
  return Buffer.from(`${createdAt} ${id}`).toString('base64url')
}

function readCursor(cursor: string | undefined): Cursor | undefined {
  if (!cursor) return undefined
  const text = Buffer.from(cursor, 'base64url').toString()
  const [, microseconds, id = ''] = /^(-?\d{1,16}) (\S{36})$/.exec(text) ?? []
  const createdAt = Number(microseconds)
  // Also false for NaN.
  if (Math.abs(createdAt) <= endOfTime && isUuid(id)) return { createdAt, id }
  throw validationFailed('Bad Pagination Parameters: cursor is not from this list')
}

// Concurrent requests share the result of one call.

/**
 * Returns a function that calls `load` once for all callers of a key that wait at the same time. The call begins after
 * their requests, so that its result is never older. When it fails, for example because the request that began it
 * ended, the others call `load` themselves.
 */
export function shareCalls<Value>(
  load: (key: string) => Promise<Value>,
): (key: string) => Promise<Value> {
  const running = new Map<string, Promise<unknown>>()
  const waiting = new Map<string, Promise<Value>>()

  async function loadNext(key: string): Promise<Value> {
    await running.get(key)?.catch(() => {})
    waiting.delete(key)
    const loading = load(key)
    running.set(key, loading)
    try {
      return await loading
    } finally {
      if (running.get(key) === loading) running.delete(key)
    }
  }

  return (key) => {
    const shared = waiting.get(key)
    if (shared) return shared.catch(() => load(key))
    const next = loadNext(key)
    waiting.set(key, next)
    return next
  }
}

/**
 * The owner of a whole identifier or id; otherwise users whose email, phone or name contains the text, or starts with
 * it without trigrams.
 */
export async function readUserSearch(
  { config, readDb: db, users: { listState } }: FastifyInstance,
  text: string,
  aud: string,
): Promise<UserSearch> {
  const given = text.trim().normalize('NFKC')
  const term = given.toLowerCase()
  if (isUuid(term)) return { id: term }
  const digits = /^\+?[\d ()-]+$/.test(term) ? term.replaceAll(/\D/g, '') : ''
  const owner = {
    email: term.includes('@') ? term : null,
    phone: digits.length >= minPhoneDigits ? digits : null,
  }
  // A complete email shares most trigrams with all others, so the index would be slow.
  if ((owner.email || owner.phone) && (await hasOwner(db, owner, aud))) return { owner }
  listState.isIndexed ??= await hasTrigramIndex(db, config.AUTH_DB_NAMESPACE)
  return withoutName(config, partSearch(given, digits, listState.isIndexed))
}

/** GoTrue's filter: a substring of the email or name. */
export function readUserFilter({ config }: FastifyInstance, text: string): UserSearch {
  return withoutName(config, { email: `%${escaped(text)}%`, name: `%${escaped(text)}%` })
}

/** An unindexed name is not searched: that would read all users. */
function withoutName({ AUTH_DB_INDEX_USER_NAMES }: FastifyInstance['config'], search: UserSearch) {
  return AUTH_DB_INDEX_USER_NAMES ? search : { ...search, name: undefined }
}

/** One or two letters match half of all emails, so they must be a prefix. */
const minLettersForSubstringSearch = 3

/** Shorter numbers are searched as substrings. */
const minPhoneDigits = 7

function partSearch(text: string, digits: string, isIndexed: boolean): UserSearch {
  const before = isIndexed && text.length >= minLettersForSubstringSearch ? '%' : ''
  const pattern = `${before}${escaped(text)}%`
  return {
    email: pattern.toLowerCase(),
    name: pattern,
    ...(digits && { phone: `${before}${digits}%` }),
  }
}

const escaped = (text: string) => text.replaceAll(/[\\%_]/g, String.raw`\$&`)
