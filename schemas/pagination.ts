/** Pagination by number for admin SDKs: query fields, and the headers with links to other pages. */
import { Type } from '@sinclair/typebox'

import { validationFailed } from './errors.ts'

export const PageQuery = {
  page: Type.Optional(Type.String({ description: 'From 1; 0 means 1; default 1' })),
  per_page: Type.Optional(Type.String({ description: '1 to 1000; default 50' })),
}

export interface RequestedNumberedPage {
  number: number
  size: number
}

const defaultSize = 50
const maxSize = 1000
const maxNumber = 1_000_000_000

/** Empty strings count as absent, and page 0 is the first one, as in GoTrue. Throws validation_failed. */
export function readPage(query: { page?: string; per_page?: string }): RequestedNumberedPage {
  return {
    number: query.page === '0' ? 1 : readWhole('page', query.page, 1, maxNumber),
    size: readWhole('per_page', query.per_page, defaultSize, maxSize),
  }
}

/** Parses the `limit` of a list without pages; throws validation_failed, unless capped also for a larger one. */
export function readLimit(text: string | undefined, { isCapped = false } = {}): number {
  if (isCapped) return Math.min(readWhole('limit', text, defaultSize, maxNumber), maxSize)
  return readWhole('limit', text, defaultSize, maxSize)
}

/** Parses a cursor from an earlier response; throws validation_failed. */
export function readPosition(name: string, text: string | undefined, absent: number): number {
  if (!text) return absent
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (Number.isSafeInteger(value)) return value
  throw validationFailed(`Bad Pagination Parameters: ${name} must be a whole number`)
}

function readWhole(name: string, text: string | undefined, absent: number, max: number): number {
  if (!text) return absent
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN
  if (value >= 1 && value <= max) return value
  throw validationFailed(
    `Bad Pagination Parameters: ${name} must be a whole number from 1 to ${max}`,
  )
}

export interface Total {
  count: number
  /** False for an estimate, when counting would take too long. */
  exact: boolean
}

/**
 * `X-Total-Count`, whether it is exact, and `Link` with relative URLs (RFC 8288). Parameters are sorted and include
 * those of the request, because SDKs read the number after the first `=`.
 */
export function paginationHeaders(
  path: string,
  query: Record<string, string | undefined>,
  { number, size }: RequestedNumberedPage,
  { total, hasNext }: { total: Total; hasNext: boolean },
): Record<string, string> {
  const last = Math.max(Math.ceil(total.count / size), hasNext ? number + 1 : 0)
  const link = (page: number, rel: string) =>
    `<${linkTarget(path, { ...query, page: `${page}`, per_page: `${size}` })}>; rel="${rel}"`
  return {
    'x-total-count': `${total.count}`,
    'x-total-count-precision': total.exact ? 'exact' : 'estimate',
    link: [...(hasNext ? [link(number + 1, 'next')] : []), link(last, 'last')].join(', '),
  }
}

/** A path with the parameters that have a value, sorted by name. */
export function linkTarget(path: string, query: Record<string, string | undefined>): string {
  const entries = Object.entries(query).filter((entry): entry is [string, string] => !!entry[1])
  return `${path}?${new URLSearchParams(entries.sort(([a], [b]) => (a < b ? -1 : 1)))}`
}
