/** How a statement is sent to Postgres. The driver (`plugins/database/driver`) reads it from the compiled query. */
import type { CompiledQuery } from 'kysely'

/**
 * `pipelined`: its result is not awaited; inside a transaction it is sent with the next statement. `grouped`: outside
 * of transactions it may be committed together with statements of other requests.
 */
export type StatementDelivery = 'pipelined' | 'grouped'

export interface DeliveredQuery<Row> extends CompiledQuery<Row> {
  readonly delivery: StatementDelivery | undefined
}

/** Undefined for a query that is sent immediately and alone. */
export function getDelivery(query: CompiledQuery): StatementDelivery | undefined {
  const delivery = 'delivery' in query ? query.delivery : undefined
  return delivery === 'pipelined' || delivery === 'grouped' ? delivery : undefined
}
