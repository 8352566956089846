/** Errors of Postgres that the code handles. */

interface UniqueViolation extends Error {
  /** The name of the index. */
  constraint?: string
}

/** True when another row of our table has the same unique value (SQLSTATE 23505), not one that a trigger wrote to. */
export function isUniqueViolation(error: unknown): error is UniqueViolation {
  return (
    error instanceof Error &&
    'code' in error &&
    error.code === '23505' &&
    findFailedFunction(error) === undefined
  )
}

interface ForeignKeyViolation extends Error {
  /** The name of the constraint. */
  constraint?: string
  /** The referencing table. */
  table?: string
  schema?: string
}

/**
 * True when a referenced row does not exist, or when other rows reference a deleted row (SQLSTATE 23503, and 23001 for
 * `on delete restrict`), but not of a statement of a trigger.
 */
export function isForeignKeyViolation(error: unknown): error is ForeignKeyViolation {
  return (
    error instanceof Error &&
    'code' in error &&
    (error.code === '23503' || error.code === '23001') &&
    findFailedFunction(error) === undefined
  )
}

/** A line of the error's context. Postgres translates the words around the language and the name. */
const functionCall = /^(?:\S+ )?PL\/\w+[^(]*?([\w$."]+)\(/

/**
 * The function in which a statement of this server failed, such as `public.handle_new_user`; undefined when the
 * statement itself failed. Of nested functions the outermost, which the trigger names. The triggers of this server call
 * none, so that it belongs to another program.
 */
export function findFailedFunction(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('where' in error)) return undefined
  const { where } = error
  const lines = typeof where === 'string' ? where.split('\n') : []
  const calls = lines.map((line) => functionCall.exec(line.slice(0, 300))?.[1])
  return calls.findLast((name) => name !== undefined)
}
