/** Errors inside a function that a trigger calls: this server's triggers have none, so it belongs to another program. */

/** A line of the error's context. Postgres translates the words around the language and the name. */
const functionCall = /^(?:\S+ )?PL\/\w+[^(]*?([\w$."]+)\(/

/**
 * The function in which a statement of this server failed, such as `public.handle_new_user`; undefined when the
 * statement itself failed. Of nested functions the outermost, which the trigger names.
 */
export function findFailedFunction(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('where' in error)) return undefined
  const { where } = error
  const lines = typeof where === 'string' ? where.split('\n') : []
  const calls = lines.map((line) => functionCall.exec(line.slice(0, 300))?.[1])
  return calls.findLast((name) => name !== undefined)
}
