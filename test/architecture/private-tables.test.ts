/** SQL on the private tables of graphile-worker. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { sources } from './sources.ts'

suite('private tables of graphile-worker', () => {
  test('are named in db/jobs/private-jobs.ts only', () => {
    const code = sources(['{cli,config,db,modules,plugins,routes,server}/**/*.ts', '*.ts'])
    const users = code.filter(({ text }) =>
      /\b_private_(jobs|job_queues|tasks|known_crontabs)\b/.test(text),
    )
    assert.deepEqual(
      users.map(({ path }) => path),
      ['db/jobs/private-jobs.ts'],
    )
  })
})
