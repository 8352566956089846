/** Retention of events and deliveries. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { query } from '../../../db/sql.ts'
import { until } from '../../../support/processes/until.ts'
import { build } from '../../../support/server.ts'
import { autoconfirm, signUpUser } from '../../../support/users.ts'
import { webhookEnv, webhookReceiver } from '../../../support/webhooks/webhook-receiver.ts'

test('removes events older than AUTH_EVENTS_RETENTION with their deliveries', async (t) => {
  const receiver = await webhookReceiver(t)
  const env = { ...autoconfirm, ...webhookEnv(receiver), AUTH_EVENTS_RETENTION: '48h' }
  const { app } = await build(t, { env })
  const { user } = await signUpUser(app)
  await until(() => receiver.ofUser(user.id).length === 3)
  await app.events.removeOld(new Date(Date.now() + 47 * 3600_000))
  const count = async (table: 'postern_events' | 'postern_webhook_deliveries') =>
    (await app.db.selectFrom(table).select('position').execute()).length
  assert.equal(await count('postern_events'), 3)
  const later = new Date(Date.now() + 49 * 3600_000)
  const { user: stored } = await signUpUser(app)
  await until(() => receiver.ofUser(stored.id).length === 3)
  await app.db
    .updateTable('postern_events')
    .set({ created_at: later })
    .where('user_id', '=', stored.id)
    .execute()
  await app.events.removeOld(later)
  assert.deepEqual(
    [await count('postern_events'), await count('postern_webhook_deliveries')],
    [3, 3],
  )
})

test('removes events without a position while events are disabled', async (t) => {
  const { app, database } = await build(t, { env: autoconfirm })
  const lag = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString()
  for (const days of [31, 29]) {
    await query(
      database.url,
      `insert into auth.postern_event_inbox (id, type, data, created_at)
        values (gen_random_uuid(), 'user.created', '{}', '${lag(days)}')`,
    )
  }
  await app.events.removeOld(new Date())
  const left = await query(database.url, 'select created_at from auth.postern_event_inbox')
  assert.equal(left.length, 1)
})
