import { createHash, timingSafeEqual } from 'node:crypto'

/** Compares two texts in a time that depends neither on their content nor on their lengths. */
export function isEqualInConstantTime(left: string, right: string): boolean {
  return timingSafeEqual(digest(left), digest(right))
}

/** timingSafeEqual requires equal lengths. */
function digest(value: string): Buffer {
  return createHash('sha256').update(value).digest()
}
