/** SQL on the private tables of graphile-worker. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { sources } from './sources.ts'

test('only db/jobs/private-jobs.ts names the private tables of graphile-worker', () => {
  const code = sources(['{cli,config,db,modules,plugins,routes,server}/**/*.ts', '*.ts'])
  const users = code.filter(({ text }) =>
    /\b_private_(jobs|job_queues|tasks|known_crontabs)\b/.test(text),
  )
  assert.deepEqual(
    users.map(({ path }) => path),
    ['db/jobs/private-jobs.ts'],
  )
})
