/** The tools of this folder: a standby of the primary whose replay can be paused. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { query } from '../db/sql.ts'
import { bin } from '../services/postgres.ts'
import { startWithStandby } from '../support/cluster/standby.ts'
import { lastFirst } from '../support/processes/ending.ts'

suite('primary with a standby', { skip: !bin && 'not installed: PostgreSQL' }, () => {
  test('a paused standby shows a change after its replay is resumed', async (context) => {
    const pair = await startWithStandby(lastFirst(context))
    await query(pair.primary.url, 'create table notes (text text)')
    await pair.caughtUp()
    await pair.pauseReplay()
    await query(pair.primary.url, "insert into notes values ('late')")
    assert.deepEqual(await query(pair.standby.url, 'select text from notes'), [])

    await pair.resumeReplay()
    await pair.caughtUp()
    assert.deepEqual(await query(pair.standby.url, 'select text from notes'), [{ text: 'late' }])
  })
})
