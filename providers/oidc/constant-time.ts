import { createHash, timingSafeEqual } from 'node:crypto'

/** Compares two texts in constant time. */
export function sameText(left: string, right: string): boolean {
  return timingSafeEqual(digest(left), digest(right))
}

/** timingSafeEqual requires equal lengths. */
function digest(value: string): Buffer {
  return createHash('sha256').update(value).digest()
}
