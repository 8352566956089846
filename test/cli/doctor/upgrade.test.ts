/** `npm run doctor -- --upgrade`: what a new version says about a database and an environment before it starts. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import type { DoctorContext } from '../../../cli/doctor/finding.ts'
import { upgradeChecks } from '../../../cli/doctor/upgrade.ts'
import { query } from '../../db/sql.ts'
import { cloneDatabase } from '../../support/database.ts'
import { formerDatabase } from '../../support/former-database.ts'
import { createDoctorContext, runCheck } from './doctor-context.ts'

suite('doctor --upgrade', () => {
  test('lists pending migrations of an earlier release, and that a rollback is possible', async (t) => {
    const { url: DATABASE_URL } = (await formerDatabase(t)).database
    const context = createDoctorContext(t, { DATABASE_URL })
    const migrations = await lines('migrations', context)
    assert.ok(migrations.includes('warn The first start applies the migration 0208-admins.'))
    assert.ok(!migrations.some((line) => line.includes('0001-users')))
    const [back] = await lines('way back', context)
    assert.match(back ?? '', /^pass The running version serves the migrated database too/)
  })

  test('reports no change for a database of this version', async (t) => {
    const { url: DATABASE_URL } = await cloneDatabase(t)
    const context = createDoctorContext(t, { DATABASE_URL })
    assert.deepEqual(await lines('migrations', context), [
      'pass This version changes nothing in the database.',
    ])
    assert.match((await lines('way back', context))[0] ?? '', /^pass .* at any time/)
  })

  test('lists an index that the first start builds', async (t) => {
    const { url: DATABASE_URL } = await cloneDatabase(t)
    await query(DATABASE_URL, 'drop index auth.postern_users_email_idx')
    assert.deepEqual(await lines('migrations', createDoctorContext(t, { DATABASE_URL })), [
      'warn The first start builds the index postern_users_email_idx on users, while requests are served.',
    ])
  })

  test('fails for a database that a newer version migrated beyond this one', async (t) => {
    const { url: DATABASE_URL } = await cloneDatabase(t)
    await query(
      DATABASE_URL,
      `insert into auth.postern_migrations values ('9999-later', '')`,
      `update auth.postern_schema_floor set migration = '9999-later'`,
    )
    const [line] = await lines('migrations', createDoctorContext(t, { DATABASE_URL }))
    assert.match(line ?? '', /^fail .*9999-later.*cannot serve it/)
  })

  test('fails for a database from before commit 397d0154, which this version does not change', async (t) => {
    const { url: DATABASE_URL } = (await formerDatabase(t)).database
    await query(DATABASE_URL, `delete from auth.postern_later_migrations where name > '0030'`)
    const context = createDoctorContext(t, { DATABASE_URL })
    const [line] = await lines('migrations', context)
    assert.match(line ?? '', /^fail .*before commit 397d0154.*run "npm run migrate" of it once/)
    assert.deepEqual(await lines('way back', context), [
      'pass This version does not start, and so changes nothing.',
    ])
  })

  test('lists changed defaults of unset variables since the running version', async (t) => {
    const running = (version: string) => contextWithVersion(t, version)
    const before = await lines('defaults', running('0.1.0'))
    assert.ok(before.some((line) => line.startsWith('warn AUTH_AUDIT_RETENTION: ')))
    assert.deepEqual(await lines('defaults', running('0.1.1')), [
      'pass No variable that is not set has another default.',
    ])
    const set = contextWithVersion(t, '0.1.0', { AUTH_DB_CLEANUP_AUDIT_LOG_RETENTION: '0' })
    assert.ok(!(await lines('defaults', set)).some((line) => line.includes('AUDIT_RETENTION')))
  })

  test('names both versions, and lists every change when the running one is unknown', async (t) => {
    const [known] = await lines('versions', contextWithVersion(t, '0.0.9'))
    assert.match(known ?? '', /^pass This is \d+\.\d+\.\d+, and 0\.0\.9 is running\.$/)
    const unreachable = createDoctorContext(
      t,
      {},
      { fetch: () => Promise.reject(new Error('closed')) },
    )
    assert.match((await lines('versions', unreachable))[0] ?? '', /^warn .*unknown/)
    assert.ok((await lines('defaults', unreachable)).length > 5)
  })
})

/** With a server that runs this version. */
function contextWithVersion(t: TestContext, version: string, env: Record<string, string> = {}) {
  return createDoctorContext(t, env, { fetch: async () => Response.json({ version }) })
}

function lines(name: string, context: DoctorContext): Promise<string[]> {
  const check = upgradeChecks[name]
  assert.ok(check, name)
  return runCheck(check, context)
}
