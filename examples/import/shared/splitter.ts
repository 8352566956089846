/**
 * Finds the records of a JSON document line by line, without parsing it as a whole: a file may be larger than memory, and
 * a broken record must not cost the others.
 */
import { parse } from './json.ts'

/** A string, perhaps without its end; brackets, commas; anything else. */
const tokens = /"(?:[^"\\]+|\\.)*("?)|[{}[\],]|[^"{}[\],\s]+/g

const opening: Record<string, string> = { '}': '{', ']': '[' }

/** The beginning of a record: the brackets open before it, and its complete lines. */
interface Part {
  depth: number
  indentation: string
  text: string
}

export class RecordSplitter {
  readonly #list: string
  /** The open brackets, outermost first. */
  #open = ''
  /** The last string of the outermost object: the name of a value that begins after it. */
  #name = ''
  /** Inside the list of the outermost object. */
  #isNamed = false
  #record: Part | undefined
  /** The beginning of lines after which a broken record ends. */
  #skipsUntil: string | undefined

  constructor(list: string) {
    this.#list = list
  }

  /** Returns the records that end on this line; undefined stands for one that is not valid JSON. */
  *feed(line: string): Generator<unknown> {
    let rest = this.#skip(line)
    while (rest !== undefined) rest = yield* this.#scan(rest)
  }

  /** The last record, if the document ends within it. */
  *end(): Generator<unknown> {
    if (this.#record) yield undefined
  }

  /** What follows a broken record on this line; undefined while it goes on. */
  #skip(line: string): string | undefined {
    const indentation = this.#skipsUntil
    if (indentation === undefined) return line
    const isNext = line.startsWith(`${indentation}{`) || /^\s*\]/.test(line)
    const isEnd = line.startsWith(`${indentation}}`)
    if (!isNext && !isEnd) return undefined
    this.#skipsUntil = undefined
    return isEnd ? line.slice(indentation.length + 1) : line
  }

  *#scan(line: string): Generator<unknown, string | undefined> {
    let from = 0
    for (const match of line.matchAll(tokens)) {
      const [token, quote] = match
      const end = match.index + token.length
      const isBroken = quote === '' || (token in opening && opening[token] !== this.#open.at(-1))
      if (isBroken && this.#record) {
        yield undefined
        return this.#abandon(this.#record, quote === '' ? undefined : line.slice(end))
      }
      if (token === '{' || token === '[') {
        if (this.#begins(token)) {
          const indentation = line.slice(0, match.index).match(/^\s*$/)?.[0] ?? ''
          this.#record = { depth: this.#open.length, indentation, text: '' }
          from = match.index
        }
        this.#enter(token)
      } else if (token in opening) {
        this.#open = this.#open.slice(0, -1)
        if (this.#open === '{') this.#isNamed = false
        if (this.#record?.depth === this.#open.length) {
          yield parse(this.#record.text + line.slice(from, end))
          this.#record = undefined
        }
      } else if (token.startsWith('"')) {
        if (this.#open === '{') this.#name = token.slice(1, -1)
        else if (this.#isInList()) yield undefined
      } else if (token !== ',' && this.#isInList()) yield undefined
    }
    if (this.#record) this.#record.text += `${line.slice(from)}\n`
    return undefined
  }

  #isInList(): boolean {
    return !this.#record && (this.#open === '[' || (this.#isNamed && this.#open === '{['))
  }

  #begins(token: string): boolean {
    return token === '{' && !this.#record && (this.#open === '' || this.#isInList())
  }

  #enter(token: string): void {
    if (token === '[' && this.#open === '{' && this.#name === this.#list) {
      // The outermost object is no record.
      this.#isNamed = true
      this.#record = undefined
    }
    this.#open += token
  }

  /** Returns what is left of the line, if the record has no other lines. */
  #abandon({ depth, indentation, text }: Part, rest: string | undefined): string | undefined {
    this.#open = this.#open.slice(0, depth)
    this.#record = undefined
    if (text === '' && rest !== undefined) return rest
    this.#skipsUntil = indentation
    return undefined
  }
}
