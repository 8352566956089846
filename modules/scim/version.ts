/** Entity tags (RFC 7644 §3.14). */
import { scimRejected } from '../../schemas/errors.ts'

type Versioned = Readonly<{ updated_at: Date }>

/** The time of the last change: each change has a later one. */
export const toEntityTag = ({ updated_at }: Versioned): string =>
  `W/"${updated_at.getTime().toString(36)}"`

/** Throws 412 when the resource has another version than the client expects. */
export function checkVersion(row: Versioned, ifMatch: string | undefined): void {
  if (ifMatch === undefined || matchesVersion(row, ifMatch)) return
  throw scimRejected(412, undefined, 'The resource has changed. Get it again before you change it.')
}

/** Weak comparison (RFC 9110 §8.8.3.2). */
export function matchesVersion(row: Versioned, tags: string): boolean {
  if (tags.trim() === '*') return true
  const own = toEntityTag(row).replace(/^W\//, '')
  return tags.split(',').some((tag) => tag.trim().replace(/^W\//, '') === own)
}
