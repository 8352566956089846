/** User search: parsing, counting and paging. */
import { LRUCache } from 'lru-cache'

import { exactCountLimit } from '../../../db/core/paging.ts'
import { listFiltered, type UserFilter } from '../../../db/users/filtered-list.ts'
import {
  type CountedUser,
  type Cursor,
  endOfTime,
  listAfter,
  listPage,
} from '../../../db/users/list.ts'
import {
  countListed,
  estimateListed,
  hasOwner,
  hasTrigramIndex,
  type Listing,
  type UserSearch,
} from '../../../db/users/search.ts'
import type { Deps } from '../../../plugins/define-plugin.ts'
import { validationFailed } from '../../../schemas/errors.ts'
import { isUuid } from '../../../schemas/fields.ts'
import { listedUsersJson } from '../../../schemas/listed-user.ts'
import type { RequestedNumberedPage, Total } from '../../../schemas/pagination.ts'

export interface PageOfUsers {
  /** JSON. */
  body: Buffer
  total: Total
  hasNext: boolean
}

export interface PageAfter {
  /** JSON. */
  body: Buffer
  /** Where the next page starts; absent on the last one. */
  cursor?: string
}

/** The cache of estimates per audience: an estimate takes half as long as a page. */
const kept = { max: 100, ttl: 60_000 }

/** Places of the list are kept for clients that read page after page. */
const keptPlaces = { max: 1_000, ttl: 60_000 }

/** State of the list between requests. */
export interface SearchState {
  /** The last row before a page far from the first, by audience, direction and number of rows before it. */
  places: LRUCache<string, Cursor>
  /** By audience. */
  estimates: LRUCache<string, number>
  /** Whether substrings are indexed; undefined before the first look-up. */
  isIndexed: boolean | undefined
}

export const createSearchState = (): SearchState => ({
  places: new LRUCache(keptPlaces),
  estimates: new LRUCache(kept),
  isIndexed: undefined,
})

type ListDeps = Deps<'readDb'> & { searchState: SearchState }

/**
 * A page by number. Where totals are estimates only, a page after one that was read within a minute starts where that
 * ended: at the same cost for any number, and without repeating or leaving out users when others come or go.
 */
export async function listUserPage(
  deps: ListDeps,
  listing: Listing,
  { number, size }: RequestedNumberedPage,
): Promise<PageOfUsers> {
  const { places } = deps.searchState
  const offset = (number - 1) * size
  const after = listing.search ? undefined : places.get(placeKey(listing, offset))
  const rows = await listPage(deps.readDb, listing, { offset: after ? 0 : offset, size, after })
  const last = rows.length > size ? rows[size - 1] : undefined
  if (last && !listing.search && offset + size > exactCountLimit) {
    places.set(placeKey(listing, offset + size), { createdAt: last.place, id: last.id })
  }
  const counted = await countTotal(deps, listing, rows, { number, size })
  const total = { ...counted, exact: counted.exact && !after }
  const body = listedUsersJson(rows.slice(0, size), { aud: listing.aud })
  return { body, total, hasNext: rows.length > size }
}

const placeKey = ({ aud, direction }: Listing, offset: number) => `${direction} ${offset} ${aud}`

async function countTotal(
  deps: ListDeps,
  listing: Listing,
  rows: CountedUser[],
  { number, size }: RequestedNumberedPage,
): Promise<Total> {
  const [first] = rows
  const seen = (number - 1) * size + rows.length
  if (first && rows.length <= size) return { count: seen, exact: true }
  if (!first && number === 1) return { count: 0, exact: true }
  const counted = first ? first.counted : await countListed(deps.readDb, listing)
  if (counted !== null && counted <= exactCountLimit) return { count: counted, exact: true }
  const estimated = await estimateTotal(deps, listing)
  return { count: Math.max(estimated, counted ?? 0, first ? seen : 0), exact: false }
}

async function estimateTotal(deps: ListDeps, listing: Listing): Promise<number> {
  if (listing.search) return estimateListed(deps.readDb, listing)
  const { estimates } = deps.searchState
  const known = estimates.get(listing.aud)
  if (known !== undefined) return known
  const estimated = await estimateListed(deps.readDb, listing)
  estimates.set(listing.aud, estimated)
  return estimated
}

/** The page after a cursor, at a constant cost. Throws validation_failed. */
export async function listUsersAfter(
  { readDb: db }: Deps<'readDb'>,
  listing: Listing,
  cursor: string | undefined,
  size: number,
  filter?: UserFilter,
): Promise<PageAfter> {
  const place = { after: readCursor(cursor), size }
  const rows = filter
    ? await listFiltered(db, listing, filter, place)
    : await listAfter(db, listing, place)
  const users = rows.slice(0, size)
  const last = users.at(-1)
  const next = last && rows.length > size && { cursor: toCursor(last.place, last.id) }
  const { aud } = listing
  const body = listedUsersJson(users, { aud, ...(next && { next_cursor: next.cursor }) })
  return { body, ...next }
}

/**
 * The owner of a whole identifier or id; otherwise users whose email, phone or name contains the text, or starts with
 * it without trigrams.
 */
export async function readUserSearch(
  { config, readDb: db, searchState }: Deps<'config' | 'readDb'> & { searchState: SearchState },
  text: string,
  aud: string,
): Promise<UserSearch> {
  const given = text.trim().normalize('NFKC')
  const wanted = given.toLowerCase()
  if (isUuid(wanted)) return { id: wanted }
  const digits = /^\+?[\d ()-]+$/.test(wanted) ? wanted.replaceAll(/\D/g, '') : ''
  const owner = {
    email: wanted.includes('@') ? wanted : null,
    phone: digits.length >= fewestDigits ? digits : null,
  }
  // A whole email shares most trigrams with all others, so that the index would be slowest.
  if ((owner.email || owner.phone) && (await hasOwner(db, owner, aud))) return { owner }
  searchState.isIndexed ??= await hasTrigramIndex(db, config.AUTH_DB_NAMESPACE)
  return withoutName(config, partSearch(given, digits, searchState.isIndexed))
}

/** GoTrue's filter: a substring of the email or name. */
export function readUserFilter({ config }: Deps<'config'>, text: string): UserSearch {
  return withoutName(config, { email: `%${escaped(text)}%`, name: `%${escaped(text)}%` })
}

/** A name that is not indexed is not searched: that would read all users. */
function withoutName({ AUTH_DB_INDEX_USER_NAMES }: Deps<'config'>['config'], search: UserSearch) {
  return AUTH_DB_INDEX_USER_NAMES ? search : { ...search, name: undefined }
}

/** One or two letters match half of all emails: they must be a prefix. */
const fewestLettersAnywhere = 3

/** Shorter numbers are substrings. */
const fewestDigits = 7

function partSearch(text: string, digits: string, isIndexed: boolean): UserSearch {
  const before = isIndexed && text.length >= fewestLettersAnywhere ? '%' : ''
  const pattern = `${before}${escaped(text)}%`
  return {
    email: pattern.toLowerCase(),
    name: pattern,
    ...(digits && { phone: `${before}${digits}%` }),
  }
}

const escaped = (text: string) => text.replaceAll(/[\\%_]/g, String.raw`\$&`)

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
