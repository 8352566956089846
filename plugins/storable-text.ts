/**
 * The first characters of what somebody else said, as Postgres can store them: it takes neither NUL nor half of a
 * surrogate pair.
 */
export function storableText(text: string, longest: number): string {
  return text.slice(0, longest).toWellFormed().replaceAll('\0', '')
}
