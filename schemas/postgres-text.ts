/** The beginning of an external text, without what Postgres cannot store: NUL and lone surrogates. */
export function assertPostgresText(text: string, maxLength: number): string {
  return text.slice(0, maxLength).toWellFormed().replaceAll('\0', '')
}
