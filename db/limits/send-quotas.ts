/** Send quotas: messages per time window, of the server, of a client, and of a recipient. */
import { type Expression, sql } from 'kysely'

import type { Db, Trx } from '../core/database.ts'
import { count, whereChosen } from '../core/paging.ts'
import { type ParamOf, queryMany, queryOneOrThrow } from '../core/statement.ts'
import { secondsUntil } from './send-limits.ts'

/** The number of messages of this key in a window. */
export interface SendQuota {
  key: string
  count: number
}

/** A reserved message, and the start of its window. */
export interface ReservedQuota {
  key: string
  windowBegan: Date
}

/** A changed limit applies immediately: messages already sent count. */
function remainingQuota(tokens: Expression<unknown>, limit: Expression<unknown>) {
  return sql<number>`${tokens} + ${limit} - coalesce(postern_send_quotas.quota, ${limit})`
}

interface Keys {
  keys: readonly string[]
  limits: readonly number[]
  windowStart: Date
}

function requested(value: ParamOf<Keys>) {
  return sql<{ key: string; quota: number; position: string }>`
    unnest(${value('keys')}::text[], ${value('limits')}::int[]) with ordinality`.as<'requested'>(
    sql`requested(key, quota, position)`,
  )
}

const reserveQuotas = queryMany((db, value: ParamOf<Keys & { now: Date }>) => {
  const tokens = sql.ref('postern_send_quotas.tokens')
  const refilledAt = sql.ref('postern_send_quotas.refilled_at')
  const limit = sql<number>`excluded.quota`
  const isOver = sql`${refilledAt} <= ${value('windowStart')}`
  return db
    .insertInto('postern_send_quotas')
    .columns(['channel', 'tokens', 'refilled_at', 'quota'])
    .expression(
      db
        .selectFrom(requested(value))
        .select([
          sql<string>`requested.key`.as('channel'),
          sql<number>`requested.quota - 1`.as('tokens'),
          sql<Date>`${value('now')}::timestamptz`.as('refilled_at'),
          sql<number>`requested.quota`.as('quota'),
        ])
        .orderBy(sql`requested.position`),
    )
    .onConflict((conflict) =>
      conflict
        .column('channel')
        .doUpdateSet({
          tokens: sql`case when ${isOver} then ${limit} else ${remainingQuota(tokens, limit)} end - 1`,
          quota: limit,
          refilled_at: sql`case when ${isOver} then excluded.refilled_at else ${refilledAt} end`,
        })
        .where(sql<boolean>`(${isOver} or ${remainingQuota(tokens, limit)} > 0)`),
    )
    .returning(['channel as key', 'refilled_at as windowBegan'])
})

/**
 * Reserves one message of each quota, in the given order, so that transactions cannot deadlock. `wait` is 0, or the
 * seconds until an exceeded quota has more; the caller must then roll back what was reserved of the others.
 */
export async function reserveSendQuotas(
  trx: Trx,
  quotas: readonly SendQuota[],
  windowSeconds: number,
  now: Date,
): Promise<{ wait: number; taken: ReservedQuota[] }> {
  const values = valuesOfQuotas(quotas, windowSeconds, now)
  const taken = await reserveQuotas(trx, { ...values, now })
  if (taken.length === quotas.length) return { wait: 0, taken }
  return { wait: Math.max(1, await findQuotaWait(trx, quotas, windowSeconds, now)), taken: [] }
}

const findExhausted = queryOneOrThrow((db, value: ParamOf<Keys>) =>
  db
    .selectFrom('postern_send_quotas')
    .innerJoin(requested(value), (join) =>
      join.on(sql<boolean>`postern_send_quotas.channel = requested.key`),
    )
    .select(sql<Date | null>`max(refilled_at)`.as('refilledAt'))
    .where(remainingQuota(sql.ref('tokens'), sql`requested.quota`), '<=', sql.lit(0))
    .where('refilled_at', '>', value('windowStart')),
)

/** Checks whether a message of each may be sent, without reserving it: 0, or the whole seconds to wait. */
export async function findQuotaWait(
  db: Db,
  quotas: readonly SendQuota[],
  windowSeconds: number,
  now: Date,
): Promise<number> {
  const values = valuesOfQuotas(quotas, windowSeconds, now)
  const { refilledAt } = await findExhausted(db, values)
  return refilledAt ? secondsUntil(refilledAt, values.windowStart) : 0
}

function valuesOfQuotas(quotas: readonly SendQuota[], windowSeconds: number, now: Date) {
  return {
    keys: quotas.map(({ key }) => key),
    limits: quotas.map(({ count: limit }) => limit),
    windowStart: new Date(now.getTime() - windowSeconds * 1000),
  }
}

/** Returns how many messages may still be sent in this window. */
export async function findQuotaLeft(
  db: Db,
  { key, count: limit }: SendQuota,
  windowSeconds: number,
  now: Date,
): Promise<number> {
  const row = await db
    .selectFrom('postern_send_quotas')
    .select(remainingQuota(sql.ref('tokens'), sql`${limit}::int`).as('left'))
    .where('channel', '=', key)
    .where('refilled_at', '>', new Date(now.getTime() - windowSeconds * 1000))
    .executeTakeFirst()
  return row ? Math.max(0, row.left) : limit
}

/** Releases reserved messages whose window has not ended. */
export async function releaseSendQuotas(db: Db, taken: readonly ReservedQuota[]): Promise<void> {
  for (const { key, windowBegan } of taken) {
    await db
      .updateTable('postern_send_quotas')
      .set({ tokens: sql`least(tokens + 1, coalesce(quota, tokens + 1))` })
      .where('channel', '=', key)
      .where('refilled_at', '=', windowBegan)
      .execute()
  }
}

export function deleteOldSendQuotas(db: Db, refilledBefore: Date, limit: number): Promise<number> {
  const old = db
    .selectFrom('postern_send_quotas')
    .select('channel')
    .where('refilled_at', '<', refilledBefore)
    .orderBy('refilled_at')
  return count(db.deleteFrom('postern_send_quotas').where('channel', '=', whereChosen(old, limit)))
}
