import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { waitForDatabase } from '../../server/wait-for-database.ts'
import { query } from '../db/sql.ts'
import { bin } from '../services/postgres.ts'
import { startWithStandby } from '../support/cluster/standby.ts'
import { lastFirst } from '../support/processes/ending.ts'

suite('server start', { skip: !bin && 'not installed: PostgreSQL' }, () => {
  test('waits until a standby is promoted', async (context) => {
    const { standby } = await startWithStandby(lastFirst(context))
    const lines: string[] = []
    let promoted: Promise<unknown> | undefined
    const warn = (line: string) => {
      lines.push(line)
      promoted ??= standby.promote()
    }
    await waitForDatabase(standby.url, { warn })
    await promoted
    assert.match(lines.join(), /^the database .* is a standby, which takes no writes; waiting$/)
    const [row] = await query(standby.url, 'select pg_is_in_recovery() as standby')
    assert.deepEqual(row, { standby: false })
  })
})
