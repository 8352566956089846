/** What may read from a replica: nothing that decides about a session, a token, a permission or a write. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { sources } from './sources.ts'

const only = [
  'modules/statistics/index.ts',
  'modules/users/admin/list.ts',
  'plugins/database/read-db/index.ts',
  'routes/admin/audit.ts',
  'routes/admin/console/audit-export.ts',
  'routes/admin/console/mail.ts',
  'routes/admin/events.ts',
  'routes/admin/webhook-deliveries.ts',
  'server/app.ts',
]

test('only lists, searches, exports and statistics of the admin API use readDb', () => {
  const found = sources(['{cli,modules,plugins,routes,server}/**/*.ts'])
    .filter(({ text }) => /\breadDb\b/.test(text))
    .map(({ path }) => path)
  // Its error messages name it.
  const own = 'plugins/database/read-db/read-dialect.ts'
  assert.deepEqual(found.filter((path) => path !== own).sort(), only)
})
