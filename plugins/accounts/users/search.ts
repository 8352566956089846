/** Looking through the people: what a search text means, how many match, and where the list goes on. */
import { LRUCache } from 'lru-cache'

import {
  type CountedUser,
  type Cursor,
  endOfTime,
  listAfter,
  listPage,
} from '../../../db/user-list.ts'
import {
  countListed,
  estimateListed,
  exactCountLimit,
  hasOwner,
  hasTrigramIndex,
  type Listing,
  type Search,
} from '../../../db/user-search.ts'
import { validationFailed } from '../../../errors.ts'
import { isUuid } from '../../../schemas/fields.ts'
import { listedUsersJson } from '../../../schemas/listed-user.ts'
import type { Page, Total } from '../../../schemas/pagination.ts'
import type { House } from '../../define-plugin.ts'
import { shareAnswers } from './shared-answers.ts'

export interface PageOfUsers {
  /** JSON; those who wait for the same page share it. */
  body: Buffer
  total: Total
  hasNext: boolean
}

export interface PageAfter {
  /** JSON. */
  body: Buffer
  /** Where the next page begins; absent on the last one. */
  cursor?: string
}

/** Audiences whose estimates are kept, and for how long: to ask the planner takes half as long as to read a page. */
const kept = { max: 100, ttl: 60_000 }

/** Makes `page`: a page by number, as SDKs ask for it. */
export function createPage({ db }: House<'db'>) {
  const estimates = new LRUCache<string, number>(kept)

  async function estimate(listing: Listing): Promise<number> {
    if (listing.search) return estimateListed(db, listing)
    const known = estimates.get(listing.aud)
    if (known !== undefined) return known
    const estimated = await estimateListed(db, listing)
    estimates.set(listing.aud, estimated)
    return estimated
  }

  async function totalOf(
    listing: Listing,
    rows: CountedUser[],
    { number, size }: Page,
  ): Promise<Total> {
    const [first] = rows
    const seen = (number - 1) * size + rows.length
    if (first && rows.length <= size) return { count: seen, exact: true }
    if (!first && number === 1) return { count: 0, exact: true }
    const counted = first ? first.counted : await countListed(db, listing)
    if (counted !== null && counted <= exactCountLimit) return { count: counted, exact: true }
    const estimated = await estimate(listing)
    return { count: Math.max(estimated, counted ?? 0, first ? seen : 0), exact: false }
  }

  async function find(listing: Listing, { number, size }: Page): Promise<PageOfUsers> {
    const rows = await listPage(db, listing, { offset: (number - 1) * size, size })
    const total = await totalOf(listing, rows, { number, size })
    const body = listedUsersJson(rows.slice(0, size), { aud: listing.aud })
    return { body, total, hasNext: rows.length > size }
  }

  const share = shareAnswers<PageOfUsers>()
  return (listing: Listing, page: Page): Promise<PageOfUsers> =>
    share(JSON.stringify([listing, page]), () => find(listing, page))
}

/** What comes after a cursor: as fast at the end of a long list as at its start. Throws validation_failed. */
export async function pageAfter(
  { db }: House<'db'>,
  listing: Listing,
  cursor: string | undefined,
  size: number,
): Promise<PageAfter> {
  const rows = await listAfter(db, listing, { after: readCursor(cursor), size })
  const users = rows.slice(0, size)
  const last = users.at(-1)
  const next = last && rows.length > size && { cursor: toCursor(last.place, last.id) }
  const { aud } = listing
  const body = listedUsersJson(users, { aud, ...(next && { next_cursor: next.cursor }) })
  return { body, ...next }
}

/** Makes `readSearch`, which asks once whether there is an index for parts of a text. */
export function createReadSearch({ config, db }: House<'config' | 'db'>) {
  let isIndexed: boolean | undefined

  /**
   * The owner of the text, if it is a whole address or an id. Else the people whose email, phone number or name
   * holds it, or without trigrams starts with it.
   */
  return async function readSearch(text: string, aud: string): Promise<Search> {
    const given = text.trim().normalize('NFKC')
    const wanted = given.toLowerCase()
    if (isUuid(wanted)) return { id: wanted }
    const digits = /^\+?[\d ()-]+$/.test(wanted) ? wanted.replaceAll(/\D/g, '') : ''
    const owner = {
      email: wanted.includes('@') ? wanted : null,
      phone: digits.length >= fewestDigits ? digits : null,
    }
    // A whole address shares most of its trigrams with everybody else, so the index is slowest where it is needed least.
    if ((owner.email || owner.phone) && (await hasOwner(db, owner, aud))) return { owner }
    isIndexed ??= await hasTrigramIndex(db, config.AUTH_DB_NAMESPACE)
    return partSearch(given, digits, isIndexed)
  }
}

/** GoTrue's filter: any part of the email or of the name. */
export function readFilter(text: string): Search {
  return { email: `%${escaped(text)}%`, name: `%${escaped(text)}%` }
}

/** One or two letters are in half of all addresses, so they count from the start. */
const fewestLettersAnywhere = 3

/** Shorter numbers are parts of one. */
const fewestDigits = 7

function partSearch(text: string, digits: string, isIndexed: boolean): Search {
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
  // False for what is not a number, too.
  if (Math.abs(createdAt) <= endOfTime && isUuid(id)) return { createdAt, id }
  throw validationFailed('Bad Pagination Parameters: cursor is not one that this list gave out')
}
