/** What pg offers to makers of statements of their own, such as pg-cursor, without types. */
declare module 'pg/lib/utils.js' {
  const utils: {
    /** A value in the text or the bytes that Postgres reads; throws for an object that holds itself. */
    prepareValue(value: unknown): string | Buffer | null
  }
  export default utils
}
