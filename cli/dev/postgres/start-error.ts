/** Postgres could not be started for a reason that one sentence explains; no stack trace is needed. */
export class PostgresStartError extends Error {
  override name = 'PostgresStartError'
}
