/** The fields of one record. Each is taken by its name; what is not taken, or has no usable value, is left out by name. */
import { isObject, parse } from './json.ts'
import { toTime } from './time.ts'

/** Why one record cannot be converted. */
export class UnreadableRecord extends Error {
  override name = 'UnreadableRecord'
}

export class Fields {
  readonly #values: Map<string, unknown>
  readonly #path: string
  readonly #leftOut: Set<string>
  readonly #parts: Fields[] = []

  constructor(record: object, leftOut: Set<string>, path = '') {
    this.#values = new Map(Object.entries(record))
    this.#leftOut = leftOut
    this.#path = path
  }

  /** The first of these names that has a value, as text; ids are numbers in some exports. */
  text(...names: string[]): string | undefined {
    for (const name of names) {
      const value = this.#take(name)
      if (typeof value === 'string' || typeof value === 'number') return String(value)
      if (value !== undefined) this.leaveOut(name, 'not text')
    }
    return undefined
  }

  /** An unreadable value costs the record: it may say that the user is blocked. */
  flag(name: string, fallback = false): boolean {
    const value = this.#take(name) ?? fallback
    if (typeof value === 'boolean') return value
    if (value === 'true' || value === 'false') return value === 'true'
    throw new UnreadableRecord(`${this.#path}${name} is neither true nor false`)
  }

  /** RFC 3339. */
  time(...names: string[]): string | undefined {
    for (const name of names) {
      const value = this.#take(name)
      const time = value === undefined ? undefined : toTime(value)
      if (time) return time
      if (value !== undefined) this.leaveOut(name, 'not a time')
    }
    return undefined
  }

  /** An object, or one as JSON text. */
  object(...names: string[]): Record<string, unknown> | undefined {
    for (const name of names) {
      const value = this.#take(name)
      const object = typeof value === 'string' ? parse(value) : value
      if (isObject(object)) return object
      if (value !== undefined) this.leaveOut(name, 'not an object')
    }
    return undefined
  }

  /** The fields of an object; what is not taken of it is left out under its name. */
  fields(...names: string[]): Fields {
    return this.part(names[0] ?? '', this.object(...names) ?? {})
  }

  /** The objects of a list, or of one as JSON text. */
  list(...names: string[]): Fields[] {
    return names.flatMap((name) => {
      const value = this.#take(name)
      const items = typeof value === 'string' ? parse(value) : value
      if (value !== undefined && !Array.isArray(items)) this.leaveOut(name, 'not a list')
      if (!Array.isArray(items)) return []
      const objects = items.filter(isObject)
      if (objects.length < items.length) this.leaveOut(name, 'not an object')
      return objects.map((item) => this.part(name, item))
    })
  }

  /** The texts of a list. */
  texts(name: string): string[] {
    const value = this.#take(name)
    if (value === undefined) return []
    const items: unknown[] = Array.isArray(value) ? value : [value]
    const texts = items.filter((item) => typeof item === 'string')
    if (texts.length < items.length) this.leaveOut(name, 'not text')
    return texts
  }

  /** Fields whose names begin with that of the part. */
  part(name: string, value: object): Fields {
    const part = new Fields(value, this.#leftOut, `${this.#path}${name}.`)
    this.#parts.push(part)
    return part
  }

  /** The fields that are not taken yet. */
  others(): Record<string, unknown> {
    const values = [...this.#values.keys()].map((name) => [name, this.#take(name)] as const)
    return Object.fromEntries(values.filter(([, value]) => value !== undefined))
  }

  leaveOut(name: string, reason?: string): void {
    this.#leftOut.add(`${this.#path}${name}${reason ? `: ${reason}` : ''}`)
  }

  /** What was not taken is left out. */
  end(): void {
    for (const name of Object.keys(this.others())) this.leaveOut(name)
    for (const part of this.#parts) part.end()
  }

  /** Undefined for a value that says nothing. */
  #take(name: string): unknown {
    const value = this.#values.get(name)
    this.#values.delete(name)
    const isEmpty = typeof value === 'object' && value !== null && Object.keys(value).length === 0
    return value === null || value === '' || isEmpty ? undefined : value
  }
}
