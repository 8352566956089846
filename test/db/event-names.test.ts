/** Migration 0062: event types renamed before the first release. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { cloneDatabase } from '../support/database.ts'
import { migrated, query } from './sql.ts'

const oldTypes = ['reuse.detected', 'mail.dead', 'key.rotated', 'key.imported', 'key.revoked']
const newTypes = [
  'refresh_token.reuse_detected',
  'email.dead_lettered',
  'signing_key.rotated',
  'signing_key.imported',
  'signing_key.revoked',
]

test('a migration renames the types of stored events and webhook subscriptions', async (t) => {
  const { url } = await cloneDatabase(t)
  const types = [...oldTypes, 'user.created']
  const rows = types
    .map((type, i) => `(gen_random_uuid(), '${type}', null, '{}', now() + interval '${i} s')`)
    .join()
  for (const table of ['postern_event_inbox', 'postern_events']) {
    await query(
      url,
      `insert into auth.${table} (id, type, user_id, data, created_at) values ${rows}`,
    )
  }
  await query(
    url,
    `insert into auth.postern_webhooks (id, source, url, events, state, created_at, updated_at)
      values (gen_random_uuid(), 'api', 'https://a.example', '{${types}}', 'active', now(), now())`,
  )
  await query(url, `delete from auth.postern_later_migrations where name = '0062-event-names'`)

  await migrated(url)

  const expected = [...newTypes, 'user.created'].map((value) => ({ value }))
  for (const table of ['postern_event_inbox', 'postern_events']) {
    const found = await query(url, `select type as value from auth.${table} order by created_at`)
    assert.deepEqual(found, expected)
  }
  const subscribed = await query(url, 'select unnest(events) as value from auth.postern_webhooks')
  assert.deepEqual(subscribed, expected)
})
