/** A language that an operator brings: some or all of the texts of en.json, as JSON. */
import { compileTemplate } from '../go-template/template.ts'
import { english, type Paragraph } from './language.ts'

/** Texts by their place, as in `mails.invite.subject`. */
export type Texts = ReadonlyMap<string, string | Paragraph[]>

export interface OwnLanguage {
  texts: Texts
  /** One sentence for each text that is not used. */
  problems: string[]
}

/** Throws a SyntaxError for what is no JSON, and a TypeError for JSON that is no object. */
export function readOwnLanguage(json: string): OwnLanguage {
  const parsed: unknown = JSON.parse(json)
  if (!isRecord(parsed)) throw new TypeError('a language is a JSON object, as in en.json')
  const texts = new Map<string, string | Paragraph[]>()
  const problems: string[] = []
  for (const [place, value] of leaves(parsed)) {
    const problem = problemOf(place, value)
    if (problem) problems.push(`${place} ${problem}`)
    else if (typeof value === 'string' || isParagraphs(value)) texts.set(place, value)
  }
  return { texts, problems }
}

/** Every text of English by its place. */
export const englishTexts: Texts = new Map(
  leaves(english).flatMap(([place, value]) =>
    typeof value === 'string' || isParagraphs(value) ? [[place, value] as const] : [],
  ),
)

/** The values at the ends of an object, each with its place. */
function leaves(of: object, before = ''): [place: string, value: unknown][] {
  return Object.entries(of).flatMap(([key, value]) =>
    isRecord(value) ? leaves(value, `${before}${key}.`) : [[`${before}${key}`, value]],
  )
}

function problemOf(place: string, value: unknown): string | undefined {
  const model = englishTexts.get(place)
  if (model === undefined) return 'is no text of this server'
  const isRight = typeof model === 'string' ? typeof value === 'string' : isParagraphs(value)
  if (!isRight) return `is not ${typeof model === 'string' ? 'a text' : 'a list of texts'}`
  const mistakes = sentencesIn(value).flatMap((sentence) => mistakeIn(sentence) ?? [])
  return mistakes[0] && `has a mistake: ${mistakes[0]}`
}

/** Every sentence of a text, those of all plural categories included. */
export function sentencesIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (!isParagraphs(value)) return []
  return value.flatMap((paragraph) => {
    if (typeof paragraph === 'string') return paragraph
    const { count: _, ...sentences } = paragraph
    return Object.values(sentences)
  })
}

function mistakeIn(sentence: string): string | undefined {
  try {
    compileTemplate(sentence, 'text')
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function isParagraphs(value: unknown): value is Paragraph[] {
  return Array.isArray(value) && value.length > 0 && value.every(isParagraph)
}

function isParagraph(value: unknown): value is Paragraph {
  if (typeof value === 'string') return true
  if (!isRecord(value) || !('count' in value && 'other' in value)) return false
  // The name of the variable becomes part of a template.
  const isName = typeof value.count === 'string' && /^\w+$/.test(value.count)
  return (
    isName &&
    Object.entries(value).every(([key, text]) => isCategory(key) && typeof text === 'string')
  )
}

function isCategory(key: string): boolean {
  return key === 'count' || /^(zero|one|two|few|many|other|=\d+)$/.test(key)
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
