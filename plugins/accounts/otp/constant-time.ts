import { timingSafeEqual } from 'node:crypto'

/** Compares in a time that tells nothing but whether the lengths are the same. */
export function isSame(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)]
  return a.length === b.length && timingSafeEqual(a, b)
}
