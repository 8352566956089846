/** Documents that take a parser as long as their size permits. */

export interface Load {
  /** What reads the document. */
  parser: string
  title: string
  /** Of the document. */
  bytes: number
  run(): Promise<unknown>
}

export const smallBytes = 65_536
export const largeBytes = 1_048_576

/** Repeated until the text has about this length. */
export function fill(bytes: number, unit: string | ((index: number) => string)): string {
  if (typeof unit === 'string') return unit.repeat(Math.max(0, Math.floor(bytes / unit.length)))
  const parts: string[] = []
  let length = 0
  for (let index = 0; length < bytes; index += 1) {
    const part = unit(index)
    length += part.length
    if (length <= bytes) parts.push(part)
  }
  return parts.join('')
}
