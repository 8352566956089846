import { createHash, timingSafeEqual } from 'node:crypto'

/** Whether two texts are the same, in a time that does not tell where they differ. */
export function sameText(left: string, right: string): boolean {
  return timingSafeEqual(digest(left), digest(right))
}

/** Of equal length, as timingSafeEqual requires. */
function digest(value: string): Buffer {
  return createHash('sha256').update(value).digest()
}
