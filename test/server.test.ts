/** How the process and its commands begin and end; test/cli/start.test.ts has the mistakes of operators. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'

import pg from 'pg'

import { type CliProcess, startCli } from './support/cli-process.ts'
import { cloneDatabase, emptyDatabase } from './support/database.ts'
import { freePort, startServerProcess } from './support/server-process.ts'
import { startTcpProxy } from './support/tcp-proxy.ts'

const right = {
  AUTH_SITE_URL: 'http://app.example',
  AUTH_API_EXTERNAL_URL: 'http://auth.example',
  AUTH_API_HOST: '127.0.0.1',
  AUTH_DB_DRIVER: 'postgres',
  AUTH_JWT_SECRET: 'only-for-tests-and-long-enough-to-pass',
  AUTH_JWT_ALGORITHM: 'ES256',
}

suite('the process', { concurrency: 3 }, () => {
  const commands = [['migrate'], ['keys', 'list'], ['token', '--role', 'anon'], ['mail', 'list']]
  for (const command of commands) {
    test(`${command[0]} tells every mistake of the configuration, without a stack`, async (t) => {
      const env = { AUTH_DB_DRIVER: 'mysql', AUTH_JWT_SECRET: 'short', AUTH_JWT_EXP: 'soon' }
      const { written, ended } = startCli(t, command, { cwd: newFolder(t), env })
      assert.equal(await ended, 1)
      const [head, ...lines] = written.err.trim().split('\n')
      assert.equal(head, 'The configuration has 6 mistakes:')
      const named = lines.map((line) => /^ {2}(\w+) .*; .*\.$/.exec(line)?.[1])
      assert.deepEqual(named.toSorted(), [
        'AUTH_API_EXTERNAL_URL',
        'AUTH_DB_DRIVER',
        'AUTH_JWT_EXP',
        'AUTH_JWT_SECRET',
        'AUTH_SITE_URL',
        'DATABASE_URL',
      ])
      assert.doesNotMatch(written.err, /short/)
    })
  }

  test('what .env says counts, and the environment wins over it', async (t) => {
    const cwd = newFolder(t)
    const lines = Object.entries({ ...right, AUTH_JWT_EXP: 'soon', PORT: '99999' })
    lines.push(['DATABASE_URL', 'postgres://a@127.0.0.1:1/a'])
    writeFileSync(join(cwd, '.env'), lines.map((pair) => pair.join('=')).join('\n'))
    const { written, ended } = startCli(t, ['serve'], { cwd, env: { PORT: '8081' } })
    assert.equal(await ended, 1)
    assert.match(written.err, /^The configuration has one mistake:\n {2}AUTH_JWT_EXP is "soon"/)
  })

  test('a database that comes up late is used once it is there', async (t) => {
    const { url } = await emptyDatabase(t)
    const proxy = await startTcpProxy(url)
    t.after(proxy.stop)
    proxy.cut()
    const env = { ...right, DATABASE_URL: proxy.url, PORT: String(await freePort()) }
    const server = startCli(t, ['serve'], { cwd: newFolder(t), env })
    await said(server, 'the database does not answer yet')

    proxy.restore()

    await said(server, 'Server listening')
  })

  test('a database that never comes is given up after half a minute', async (t) => {
    const begun = performance.now()
    const env = { ...right, DATABASE_URL: 'postgres://nobody:secret-word@127.0.0.1:1/none' }
    const { written, ended } = startCli(t, ['serve'], { cwd: newFolder(t), env })
    assert.equal(await ended, 1)
    assert.ok(performance.now() - begun > 29_000)
    assert.match(written.err, /^The database of DATABASE_URL cannot be used: .*ECONNREFUSED.*\n$/)
    assert.doesNotMatch(written.err, /secret-word/)
  })

  for (const command of ['serve', 'migrate']) {
    test(`${command} refuses a schema of a newer program in one sentence`, async (t) => {
      const { url } = await cloneDatabase(t)
      const client = new pg.Client({ connectionString: url })
      await client.connect()
      await client.query(`insert into auth.postern_migrations values ('9999-later', '')`)
      await client.end()
      const env = { ...right, DATABASE_URL: url }
      const { written, ended } = startCli(t, [command], { cwd: newFolder(t), env })
      assert.equal(await ended, 1)
      assert.match(written.err, /^The schema "auth" was migrated by a newer .*9999-later.*\n$/)
    })
  }

  test('SIGTERM: a request that is under way is answered, then the process ends well', async (t) => {
    const { url: DATABASE_URL } = await cloneDatabase(t)
    const env = { DATABASE_URL, AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true' }
    const server = await startServerProcess(t, env)
    const lock = new pg.Client({ connectionString: DATABASE_URL })
    await lock.connect()
    await lock.query('begin; lock table auth.users in access exclusive mode')
    const answer = fetch(`${server.url}/signup`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    })
    while ((await waiting(lock)) === 0) await pause(20)

    server.child.kill('SIGTERM')
    await pause(200)
    await lock.query('commit')
    await lock.end()

    assert.equal((await answer).status, 200)
    assert.equal(await server.ended, 0)
  })
})

async function waiting(client: pg.Client): Promise<number> {
  const { rows } = await client.query(
    `select count(*)::int as n from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock'`,
  )
  return rows[0].n
}

/** Resolves when the words are in the log. */
async function said({ written, child }: CliProcess, words: string): Promise<void> {
  while (!written.out.includes(words)) {
    assert.equal(child.exitCode, null, written.err)
    await pause(50)
  }
}

function newFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'postern-start-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}
