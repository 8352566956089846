/** A custom language: some or all of the messages of en.json, as JSON. */
import { compileTemplate } from '../go-template/template.ts'
import { english, type Paragraph } from './language.ts'

/** Messages by path, as in `mails.invite.subject`. */
export type MessageCatalog = ReadonlyMap<string, string | Paragraph[]>

interface CustomLanguage {
  texts: MessageCatalog
  /** A sentence for each ignored message. */
  problems: string[]
}

/** Throws a SyntaxError for invalid JSON, and a TypeError for JSON that is not an object. */
export function readCustomLanguage(json: string): CustomLanguage {
  const parsed: unknown = JSON.parse(json)
  if (!isRecord(parsed)) throw new TypeError('a language must be a JSON object, as in en.json')
  const texts = new Map<string, string | Paragraph[]>()
  const problems: string[] = []
  for (const [place, value] of leaves(parsed)) {
    const problem = findProblem(place, value)
    if (problem) problems.push(`${place} ${problem}`)
    else if (typeof value === 'string' || isParagraphs(value)) texts.set(place, value)
  }
  return { texts, problems }
}

/** Every English message by path. */
export const englishMessages: MessageCatalog = new Map(
  leaves(english).flatMap(([place, value]) =>
    typeof value === 'string' || isParagraphs(value) ? [[place, value] as const] : [],
  ),
)

/** The leaves of an object with their paths. */
function leaves(of: object, before = ''): [place: string, value: unknown][] {
  return Object.entries(of).flatMap(([key, value]) =>
    isRecord(value) ? leaves(value, `${before}${key}.`) : [[`${before}${key}`, value]],
  )
}

function findProblem(place: string, value: unknown): string | undefined {
  const model = englishMessages.get(place)
  if (model === undefined) return 'is not a message of this server'
  const isRight = typeof model === 'string' ? typeof value === 'string' : isParagraphs(value)
  if (!isRight) return `is not ${typeof model === 'string' ? 'a text' : 'a list of texts'}`
  const errors = messagesIn(value).flatMap((sentence) => findTemplateError(sentence) ?? [])
  return errors[0] && `has an error: ${errors[0]}`
}

/** Every sentence of a message, of all its plural categories. */
export function messagesIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (!isParagraphs(value)) return []
  return value.flatMap((paragraph) => {
    if (typeof paragraph === 'string') return paragraph
    const { count: _, ...sentences } = paragraph
    return Object.values(sentences)
  })
}

function findTemplateError(sentence: string): string | undefined {
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
