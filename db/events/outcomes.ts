/** Stores the outcomes of a batch of delivery attempts. */
import { type RawBuilder, sql } from 'kysely'

import type { Db } from '../core/database.ts'
import { executeStatement, type ParamOf } from '../core/statement.ts'
import type { DeliveryState, StoredDeliveryResponse } from '../tables/events.ts'

/** The outcome of an attempt. */
export interface Attempted {
  position: number
  /** Identifies the attempt: the outcome of an attempt that lost its lease is ignored. */
  attempts: number
  state: DeliveryState
  due_at: Date
  answer: StoredDeliveryResponse
}

interface Outcomes {
  webhookId: string
  /** JSON: an array of Attempted. */
  outcomes: string
  now: Date
}

/** The outcomes as a table; `json` is an array of Attempted. */
function readOutcomes(json: RawBuilder<string>) {
  return sql<{
    position: number
    attempts: number
    state: DeliveryState
    due_at: Date
    answer: string
  }>`jsonb_to_recordset(${json}::jsonb)`.as<'outcome'>(
    sql`outcome (position bigint, attempts integer, state text, due_at timestamptz, answer jsonb)`,
  )
}

const recordRows = executeStatement((db, value: ParamOf<Outcomes>) => {
  const outcome = readOutcomes(value('outcomes'))
  return (
    db
      // Locks the webhook before its deliveries, as its deletion does, and deliveries in order, so that transactions
      // cannot deadlock.
      .with('kept', (eb) =>
        eb
          .selectFrom('postern_webhooks')
          .select('id')
          .where('id', '=', value('webhookId'))
          .forKeyShare(),
      )
      // Looks each up by key: a plan cached for few deliveries would read all of the webhook.
      .with('locked', (eb) =>
        eb
          .selectFrom((of) =>
            of
              .selectFrom(['kept', outcome])
              .select(['kept.id as webhook_id', 'outcome.position', 'outcome.attempts'])
              .select(['outcome.state', 'outcome.due_at', 'outcome.answer'])
              .orderBy('outcome.position')
              .as('outcome'),
          )
          .innerJoinLateral(
            (of) =>
              of
                .selectFrom('postern_webhook_deliveries as delivery')
                .select('delivery.position')
                .whereRef('delivery.webhook_id', '=', 'outcome.webhook_id')
                .whereRef('delivery.position', '=', 'outcome.position')
                .whereRef('delivery.attempts', '=', 'outcome.attempts')
                .forUpdate()
                .as('attempted'),
            (join) => join.onTrue(),
          )
          .select(['outcome.position', 'outcome.state'])
          .select(['outcome.due_at', 'outcome.answer']),
      )
      .updateTable('postern_webhook_deliveries as delivery')
      .from('locked')
      .set((eb) => ({
        state: eb.ref('locked.state'),
        due_at: eb.ref('locked.due_at'),
        answer: eb.ref('locked.answer'),
        leased_until: null,
        delivered_at: sql<Date | null>`case when locked.state = 'delivered' then ${value('now')}::timestamptz end`,
      }))
      .where('delivery.webhook_id', '=', value('webhookId'))
      .where('delivery.position', '=', sql<number>`any(array(select position from locked))`)
      .whereRef('delivery.position', '=', 'locked.position')
  )
})

/** Stores the outcomes of a batch in one statement. */
export async function recordAttempts(
  db: Db,
  webhookId: string,
  outcomes: readonly Attempted[],
  now: Date,
): Promise<void> {
  await recordRows(db, { webhookId, outcomes: JSON.stringify(outcomes), now })
}
