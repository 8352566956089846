/** Parsers of languages; `undefined` says that the text is none of its kind. */
import { canonical, tagOfFile } from '../../mail/languages/tag.ts'

export const parseLocale = canonical

/** Files or addresses that are named after a language. */
export function parseLanguages(text: string): string[] | undefined {
  const entries = text.split(',').map((entry) => entry.trim())
  const named = entries.filter((entry) => entry !== '')
  return named.every((entry) => tagOfFile(entry) !== undefined) ? named : undefined
}
