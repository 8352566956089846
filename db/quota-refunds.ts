import { sql } from 'kysely'

import type { Db } from './database.ts'

/** Gives back one send that was taken from this window; one that has begun since then keeps what it has. */
export async function refundSendQuota(db: Db, channel: string, windowBegan: Date): Promise<void> {
  await db
    .updateTable('postern_send_quotas')
    .set({ tokens: sql`least(tokens + 1, coalesce(quota, tokens + 1))` })
    .where('channel', '=', channel)
    .where('refilled_at', '=', windowBegan)
    .execute()
}
