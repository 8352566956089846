/** Untyped part of pg for authors of custom queries, such as pg-cursor. */
declare module 'pg/lib/utils.js' {
  const utils: {
    /** Converts a value to the text or bytes that Postgres reads. Throws for an object that contains itself. */
    prepareValue(value: unknown): string | Buffer | null
  }
  export default utils
}
