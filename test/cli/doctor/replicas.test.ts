/** The doctor’s check of read replicas. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { checkReplicas } from '../../../cli/doctor/database.ts'
import { cloneDatabase } from '../../support/database.ts'
import { createDoctorContext, runCheck } from './doctor-context.ts'

suite('doctor: read replicas', () => {
  test('passes for a copy of the primary and warns about a server that does not respond', async (t) => {
    const { url: DATABASE_URL } = await cloneDatabase(t)
    const AUTH_DB_READ_URL = `${DATABASE_URL},postgres://nobody@127.0.0.1:1/none`
    const lines = await runCheck(
      checkReplicas,
      createDoctorContext(t, { DATABASE_URL, AUTH_DB_READ_URL }),
    )
    assert.match(lines[0] ?? '', /^pass Standby 1 .* is a copy of the primary/)
    assert.match(lines[1] ?? '', /^warn Standby 2 .* ECONNREFUSED/)
  })

  test('checks nothing without replicas', async (t) => {
    assert.deepEqual(await runCheck(checkReplicas, createDoctorContext(t)), [])
  })
})
