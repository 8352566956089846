/** Parsers of languages; `undefined` means invalid. */
import { canonical, tagOfFile } from '../../mail/languages/tags.ts'

export const parseLocale = canonical

/** Files or URLs that are named after a language. */
export function parseLanguages(text: string): string[] | undefined {
  const entries = text.split(',').map((entry) => entry.trim())
  const named = entries.filter((entry) => entry !== '')
  return named.every((entry) => tagOfFile(entry) !== undefined) ? named : undefined
}
