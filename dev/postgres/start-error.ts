/** Postgres could not be started, for a reason that one sentence explains without a stack trace. */
export class PostgresStartError extends Error {
  override name = 'PostgresStartError'
}
