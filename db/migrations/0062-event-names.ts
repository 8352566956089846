/** Event types that got a standard name before the first release: stored events and the subscriptions of webhooks follow. */
import { sql } from 'kysely'

import type { MigrationDb } from './ensure.ts'

const renamed = {
  'reuse.detected': 'refresh_token.reuse_detected',
  'mail.dead': 'email.dead_lettered',
  'key.rotated': 'signing_key.rotated',
  'key.imported': 'signing_key.imported',
  'key.revoked': 'signing_key.revoked',
}

export async function up(db: MigrationDb): Promise<void> {
  for (const [from, to] of Object.entries(renamed)) {
    for (const table of ['postern_event_inbox', 'postern_events']) {
      await sql`update ${sql.ref(table)} set type = ${to} where type = ${from}`.execute(db)
    }
    await sql`update postern_webhooks set events = array_replace(events, ${from}::text, ${to}::text)
      where ${from}::text = any(events)`.execute(db)
  }
}
