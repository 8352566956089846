import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'

import pg from 'pg'

import { cloneDatabase, emptyDatabase } from './support/database.ts'
import { freePort, startServerProcess, until } from './support/server-process.ts'
import { startTcpProxy } from './support/tcp-proxy.ts'

const cli = new URL('../cli.ts', import.meta.url).pathname

const right = {
  AUTH_SITE_URL: 'http://app.example',
  AUTH_API_EXTERNAL_URL: 'http://auth.example',
  AUTH_API_HOST: '127.0.0.1',
  AUTH_DB_DRIVER: 'postgres',
  DATABASE_URL: 'postgres://nobody:secret-word@127.0.0.1:1/none',
  AUTH_JWT_SECRET: 'only-for-tests-and-long-enough-to-pass',
}

suite('npm start', { concurrency: 3 }, () => {
  const wrong = {
    AUTH_SITE_URL: 'nowhere',
    AUTH_JWT_SECRET: 'short',
    AUTH_JWT_EXP: 'soon',
    AUTH_PASSWORD_MIN_LENGTH: '4',
    AUTH_EXTERNAL_GITHUB_ENABLED: 'true',
    AUTH_SMTP_HOST: 'mail.example',
    PORT: '99999',
  }
  const blamed = [
    'AUTH_API_EXTERNAL_URL',
    'AUTH_DB_DRIVER',
    'DATABASE_URL',
    'AUTH_SITE_URL',
    'AUTH_JWT_SECRET',
    'AUTH_JWT_EXP',
    'AUTH_PASSWORD_MIN_LENGTH',
    'AUTH_EXTERNAL_GITHUB_CLIENT_ID',
    'AUTH_EXTERNAL_GITHUB_SECRET',
    'AUTH_EXTERNAL_GITHUB_REDIRECT_URI',
    'AUTH_SMTP_ADMIN_EMAIL',
    'PORT',
  ]
  for (const command of ['serve', 'migrate', 'keys', 'token']) {
    test(`${command}: every mistake of the configuration is told at once, without a stack`, async (t) => {
      const args = { keys: ['list'], token: ['--role', 'anon'] }[command] ?? []
      const { code, output } = await run(t, [command, ...args], wrong)
      assert.equal(code, 1)
      const [head, ...lines] = output.trim().split('\n')
      assert.equal(head, `The configuration has ${blamed.length} mistakes:`)
      const named = lines.map((line) => /^ {2}(\w+) .*; .*\.$/.exec(line)?.[1])
      assert.deepEqual(named.toSorted(), blamed.toSorted())
      assert.doesNotMatch(output, /short/)
    })
  }

  test('what .env says counts, and the environment wins over it', async (t) => {
    const folder = newFolder(t)
    const lines = Object.entries({ ...right, AUTH_JWT_EXP: 'soon', PORT: '99999' })
    writeFileSync(join(folder, '.env'), lines.map((pair) => pair.join('=')).join('\n'))
    const { output } = await run(t, ['serve'], { PORT: '8081' }, folder)
    assert.match(output, /^The configuration has one mistake:\n {2}AUTH_JWT_EXP is "soon"/)
  })

  test('a database that refuses is told at once, without its password', async (t) => {
    const { url } = await emptyDatabase(t)
    const refusing = new URL(url)
    refusing.pathname = '/is_not_there'
    const { code, output } = await run(t, ['serve'], { ...right, DATABASE_URL: refusing.href })
    assert.equal(code, 1)
    assert.match(output, /^The database of DATABASE_URL cannot be used: .*is_not_there.*\n$/m)
    assert.ok(!output.includes(refusing.password))
  })

  test('a database that is still coming up is waited for', async (t) => {
    const { url } = await emptyDatabase(t)
    const proxy = await startTcpProxy(url)
    t.after(proxy.stop)
    proxy.cut()
    const server = await begin(t, ['serve'], { ...right, DATABASE_URL: proxy.url })
    await server.said('the database does not answer yet')

    proxy.restore()

    await server.said('Server listening')
  })

  test('a database that never comes is given up after half a minute', async (t) => {
    const begun = performance.now()
    const { code, output } = await run(t, ['serve'], right)
    assert.equal(code, 1)
    assert.ok(performance.now() - begun > 29_000)
    assert.match(output, /^The database of DATABASE_URL cannot be used: .*ECONNREFUSED.*\n$/m)
    assert.doesNotMatch(output, /secret-word|^\s+at /m)
  })

  test('a port in use is told in one sentence, and the process ends', async (t) => {
    const other = createServer().listen(0, '127.0.0.1')
    t.after(() => other.close())
    await once(other, 'listening')
    const address = other.address()
    assert.ok(address !== null && typeof address === 'object')
    const { url } = await cloneDatabase(t)
    const env = { ...right, DATABASE_URL: url, PORT: String(address.port), LOG_LEVEL: 'fatal' }
    const { code, output } = await run(t, ['serve'], env)
    assert.equal(code, 1)
    assert.match(output, /^Port \d+ on 127\.0\.0\.1 is in use by another program: [^\n]*\.\n$/)
  })

  test('a schema of a newer program is refused in one sentence', async (t) => {
    const { url } = await cloneDatabase(t)
    await query(url, `insert into auth.postern_migrations values ('9999-later', '')`)
    for (const command of ['serve', 'migrate']) {
      const env = { ...right, DATABASE_URL: url, LOG_LEVEL: 'fatal' }
      const { code, output } = await run(t, [command], env)
      assert.equal(code, 1)
      assert.match(
        output,
        /^The schema "auth" was migrated by a newer version [^\n]*9999-later.*\n$/,
      )
    }
  })

  test('two started at once on an empty database: one schema, both serve', async (t) => {
    const { url } = await emptyDatabase(t)
    const [one, two] = await Promise.all([
      startServerProcess(t, { DATABASE_URL: url, ...anonymous }),
      startServerProcess(t, { DATABASE_URL: url, ...anonymous }),
    ])
    const token = await signUp(one.url)
    const answers = await Promise.all(
      [one, two].map((server) =>
        fetch(`${server.url}/user`, { headers: { authorization: `Bearer ${token}` } }),
      ),
    )
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200],
    )
    const applied = await query(url, 'select name from auth.postern_migrations')
    assert.equal(new Set(applied.map(({ name }) => name)).size, applied.length)
  })

  test('SIGTERM: a request that is under way is answered, then the process ends well', async (t) => {
    const { url: DATABASE_URL } = await cloneDatabase(t)
    const server = await startServerProcess(t, { DATABASE_URL, ...anonymous })
    const lock = new pg.Client({ connectionString: DATABASE_URL })
    lock.on('error', () => {})
    await lock.connect()
    await lock.query('begin')
    await lock.query('lock table auth.users in access exclusive mode')
    const answer = signUp(server.url)
    await until(async () => (await waiting(lock)) > 0)

    server.child.kill('SIGTERM')
    await lock.query('commit')
    await lock.end()

    assert.match(await answer, /^ey/)
    assert.equal(await server.ended, 0)
  })
})

const anonymous = { AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true' }

async function signUp(url: string): Promise<string> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${url}/signup`, { method: 'POST', headers, body: '{}' })
  assert.equal(response.status, 200)
  return ((await response.json()) as { access_token: string }).access_token
}

async function waiting(client: pg.Client): Promise<number> {
  const { rows } = await client.query(
    `select count(*)::int as n from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock'`,
  )
  return rows[0].n
}

async function query(url: string, statement: string): Promise<Record<string, string>[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(statement)).rows
  } finally {
    await client.end()
  }
}

function newFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'postern-start-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

/** Runs a command to its end. */
async function run(t: TestContext, args: string[], env: Record<string, string>, cwd?: string) {
  const { child, output } = await begin(t, args, env, cwd)
  const [code] = await once(child, 'close')
  return { code: code as number | null, output: output() }
}

async function begin(
  t: TestContext,
  args: string[],
  env: Record<string, string>,
  cwd = newFolder(t),
) {
  const child = spawn(process.execPath, [cli, ...args], {
    cwd,
    env: { PATH: process.env.PATH, PORT: String(await freePort()), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.after(() => child.kill('SIGKILL'))
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  const said = async (words: string) => {
    while (!output.includes(words)) await once(child.stdout, 'data')
  }
  return { child, said, output: () => output }
}
