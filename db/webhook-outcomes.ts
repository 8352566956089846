/** What came of the attempts of a round. */
import { sql } from 'kysely'

import type { Db } from './database.ts'
import { preparedWrite, type ValueOf } from './prepared-statement.ts'
import type { DeliveryAnswer, DeliveryState } from './webhook-deliveries.ts'

/** What became of an attempt. */
export interface Attempted {
  position: number
  /** Which attempt it was: the outcome of one that has lost its lease to a later one is of no interest. */
  attempts: number
  state: DeliveryState
  due_at: Date
  answer: DeliveryAnswer
}

interface Outcomes {
  webhookId: string
  /** JSON: an array of Attempted. */
  outcomes: string
  now: Date
}

const recordRows = preparedWrite((db, value: ValueOf<Outcomes>) => {
  const outcome = sql<{
    position: number
    attempts: number
    state: DeliveryState
    due_at: Date
    answer: string
  }>`jsonb_to_recordset(${value('outcomes')}::jsonb)`.as<'outcome'>(
    sql`outcome (position bigint, attempts integer, state text, due_at timestamptz, answer jsonb)`,
  )
  return (
    db
      // The webhook before its deliveries, as whoever removes it, and these in one order, so that nobody waits in a circle.
      .with('kept', (eb) =>
        eb
          .selectFrom('postern_webhooks')
          .select('id')
          .where('id', '=', value('webhookId'))
          .forKeyShare(),
      )
      // Each is looked up by its key: a plan from when there were few reads all of the webhook's.
      .with('held', (eb) =>
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
      .from('held')
      .set((eb) => ({
        state: eb.ref('held.state'),
        due_at: eb.ref('held.due_at'),
        answer: eb.ref('held.answer'),
        leased_until: null,
        delivered_at: sql<Date | null>`case when held.state = 'delivered' then ${value('now')}::timestamptz end`,
      }))
      .where('delivery.webhook_id', '=', value('webhookId'))
      .where('delivery.position', '=', sql<number>`any(array(select position from held))`)
      .whereRef('delivery.position', '=', 'held.position')
  )
})

/** The outcomes of a round, in one statement. */
export async function recordAttempts(
  db: Db,
  webhookId: string,
  outcomes: readonly Attempted[],
  now: Date,
): Promise<void> {
  await recordRows(db, { webhookId, outcomes: JSON.stringify(outcomes), now })
}
