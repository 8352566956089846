/**
 * Databases of standard images from before November 2025 with their compose file: the role owns the tables and can
 * write to their schema, and cannot create a schema.
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { suite, type TestContext, test } from 'node:test'

import type { Session } from '../../../../schemas/session.ts'
import { migrated, query } from '../../../db/sql.ts'
import { gotrueDatabase } from '../../../support/gotrue/database.ts'
import { startMailServer } from '../../../support/messages/mail-server.ts'
import { startCli } from '../../../support/processes/cli-process.ts'
import { lastFirst } from '../../../support/processes/ending.ts'
import { freePort } from '../../../support/processes/free-port.ts'
import { environment } from '../../../support/processes/self-hosted.ts'
import { isReady } from '../../../support/processes/server-process.ts'
import { until } from '../../../support/processes/until.ts'
import { newNumber, password } from '../../../support/users.ts'

async function oldImage(t: TestContext) {
  const database = await gotrueDatabase()
  const [name, owner] = ['auth', 'super'].map((it) => `${it}_${randomBytes(6).toString('hex')}`)
  const url = Object.assign(new URL(database.url), { username: name, password: 'secret' })
  await query(
    database.url,
    `create role ${owner}`,
    `create role ${name} login noinherit createrole password 'secret'`,
    `alter role ${name} set search_path = 'auth'`,
    `alter role ${name} set idle_in_transaction_session_timeout to 60000`,
    `alter schema auth owner to ${owner}`,
    `grant all on schema auth to ${name}`,
    `revoke create on database ${url.pathname.slice(1)} from public`,
    `do $$ declare each record; begin
      for each in select relname from pg_class where relnamespace = 'auth'::regnamespace and relkind = 'r'
      loop execute format('alter table auth.%I owner to ${name}', each.relname); end loop;
      for each in select oid::regprocedure as name from pg_proc where pronamespace = 'auth'::regnamespace
      loop execute format('alter function %s owner to ${name}', each.name); end loop;
      for each in select oid::regtype as name from pg_type where typnamespace = 'auth'::regnamespace and typtype = 'e'
      loop execute format('alter type %s owner to ${name}', each.name); end loop;
    end $$`,
  )
  t.after(async () => {
    await query(database.url, `drop owned by ${name}, ${owner} cascade`)
    await database.drop()
    await query(String(process.env.TEST_ADMIN_URL), `drop role ${name}, ${owner}`)
  })
  return { url: url.href, adminUrl: database.url, name }
}

suite('role without the right to create a schema', () => {
  test('is rejected with the statement to run, and nothing is changed', async (t) => {
    const { url, adminUrl, name } = await oldImage(t)
    const statement = `create schema auth_jobs authorization ${name};`

    await assert.rejects(migrated(url), (error: Error) => error.message.includes(statement))

    const ours = `select 1 from pg_class where relname like 'postern%'`
    assert.deepEqual(await query(adminUrl, ours), [])
    await query(adminUrl, statement)
    await migrated(url)
    const [row] = await query(adminUrl, 'select state from auth.postern_takeover')
    assert.equal(row?.state, 'shared')
  })

  test('serves with the environment of GoTrue’s compose file', async (test) => {
    const t = lastFirst(test)
    const { url, adminUrl, name } = await oldImage(test)
    await query(adminUrl, `create schema auth_jobs authorization ${name}`)
    const mail = await startMailServer(t)
    const port = String(await freePort())
    const env = {
      ...environment,
      // Values that differ between machines.
      GOTRUE_DB_DATABASE_URL: url,
      GOTRUE_API_PORT: port,
      GOTRUE_API_HOST: '127.0.0.1',
      GOTRUE_SMTP_HOST: mail.host,
      GOTRUE_SMTP_PORT: String(mail.port),
    }
    const { written, ended } = startCli(t, ['serve'], { cwd: tmpdir(), env })
    const base = `http://127.0.0.1:${port}`
    const started = until(() => isReady(base))
    await Promise.race([started, ended.then((code) => assert.fail(`${code}: ${written.out}`))])

    const post = (path: string, body: object) =>
      fetch(`${base}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    const phone = newNumber()
    const signedUp = await post('/signup', { phone, password })
    const body = await signedUp.text()
    assert.equal(signedUp.status, 200, body)
    const { refresh_token }: Session = JSON.parse(body)
    const refreshed = await post('/auth/v1/token?grant_type=refresh_token', { refresh_token })
    assert.equal(refreshed.status, 200)
    const signedIn = await post('/token?grant_type=password', { phone, password })
    assert.equal(signedIn.status, 200)
  })
})
