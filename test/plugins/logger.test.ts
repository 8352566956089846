import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'

import pg from 'pg'

import { createLogger, createPino } from '../../plugins/logger.ts'
import { build } from '../support/server.ts'
import { ask, startServerProcess } from '../support/server-process.ts'
import { until, untilRows } from '../support/until.ts'

function logged(level: string, write: (log: ReturnType<typeof createPino>) => void): string[] {
  const lines: string[] = []
  write(createPino(level, { write: (line: string) => void lines.push(line) }))
  return lines
}

suite('the log', () => {
  const levels: [string, number][] = [
    ['panic', 1],
    ['fatal', 1],
    ['error', 2],
    ['warn', 3],
    ['info', 4],
    ['debug', 5],
  ]
  for (const [level, count] of levels) {
    test(`at ${level}, ${count} of five kinds of lines are written`, () => {
      const lines = logged(level, (log) => {
        for (const name of ['fatal', 'error', 'warn', 'info', 'debug'] as const) log[name](name)
      })
      assert.equal(lines.length, count)
    })
  }

  test('what looks like a secret is not written, one level down either', () => {
    const names = [
      ...['password', 'token', 'token_hash', 'access_token', 'refresh_token', 'code', 'nonce'],
      ...['secret', 'authorization', 'apikey', 'email', 'phone'],
    ]
    const secrets = Object.fromEntries(names.map((name) => [name, 'open sesame']))
    const [line = ''] = logged('info', (log) => log.info({ ...secrets, user: secrets }, 'x'))
    const redacted = Object.fromEntries(names.map((name) => [name, '[redacted]']))
    const { user, ...fields } = JSON.parse(line)
    assert.deepEqual(user, redacted)
    assert.deepEqual({ ...fields, ...redacted }, fields)
  })

  test('an error is told without the values a database repeats', () => {
    const error = Object.assign(new Error('duplicate key'), {
      code: '23505',
      detail: 'Key (email)=(a@example.com) already exists.',
    })
    const [line = ''] = logged('info', (log) => log.error({ err: error }, 'x'))
    assert.match(line, /23505/)
    assert.doesNotMatch(line, /a@example/)
  })

  test('one line a request: id, method, route, status, time, and nothing of the URL', async (t) => {
    const lines: string[] = []
    const { app } = await build(t, { lines })
    const answer = await app.inject({ url: '/verify?type=signup&token=secret-token' })
    const line = lines.map((one) => JSON.parse(one)).find(({ route }) => route === '/verify')
    const { reqId, method, status, ms } = line
    assert.equal(reqId, answer.headers['x-request-id'])
    assert.deepEqual({ method, status }, { method: 'GET', status: answer.statusCode })
    assert.equal(typeof ms, 'number')
    assert.ok(!lines.join('').includes('secret-token'))
  })

  test('one line also where the client hangs up before it is answered', async (t) => {
    const lines: string[] = []
    const { app, database } = await build(t, { lines })
    const url = await app.listen({ host: '127.0.0.1', port: 0 })
    const holder = new pg.Client({ connectionString: database.url })
    await holder.connect()
    await holder.query('begin; lock table auth.users in access exclusive mode')
    const leaving = new AbortController()
    const body = JSON.stringify({ email: 'left@x.example', password: 'long enough for this' })
    const left = fetch(`${url}/signup`, { method: 'POST', body, signal: leaving.signal })
    await untilRows(async () => {
      await holder.query('select pg_stat_clear_snapshot()')
      const waiting = `select from pg_stat_activity where wait_event_type = 'Lock'
        and datname = current_database()`
      return (await holder.query(waiting)).rows
    })

    leaving.abort()
    await assert.rejects(left)
    const lineOfIt = () =>
      lines.map((one) => JSON.parse(one)).find(({ route }) => route === '/signup')
    const line = await until(lineOfIt).finally(() => holder.end())

    const { method, status, ms, msg } = line
    assert.deepEqual({ method, status }, { method: 'POST', status: undefined })
    assert.equal(typeof ms, 'number')
    assert.equal(msg, 'the client hung up before it was answered')
    await untilRows(async () => (await app.pool.query('select 1 from auth.users')).rows)
  })
})

suite('AUTH_LOG_FILE', () => {
  test('that cannot be opened is refused at once, in a sentence', (t) => {
    for (const file of ['/proc/nosuch/x.log', newFolder(t)]) {
      assert.throws(() => createLogger({ level: 'info', file }), {
        message: /^AUTH_LOG_FILE cannot be written \(.+\): name a file in a folder/,
      })
    }
  })

  test('that cannot be opened anew goes on as it was, and says so', async (t) => {
    const folder = newFolder(t)
    const file = join(folder, 'deep', 'auth.log')
    const { log, reopen } = createLogger({ level: 'info', file })
    log.info('before')
    await untilHolds(file, 'before')
    renameSync(file, `${file}.1`)
    // A folder in the place of the file, which root cannot open either.
    symlinkSync(folder, file)
    reopen()
    log.info('after')
    await untilHolds(`${file}.1`, 'after')
    assert.match(readFileSync(`${file}.1`, 'utf8'), /the log file cannot be opened anew/)
  })
})

/** Takes no byte, as a full disk does. */
const full = '/dev/full'

suite('a full disk', { skip: !existsSync(full) }, () => {
  test('keeps no server from serving, and from ending', async (t) => {
    const env = { AUTH_LOG_FILE: full, LOG_LEVEL: 'info' }
    const { child, url, ended } = await startServerProcess(t, env)
    for (let request = 0; request < 5; request++) {
      await pause(100)
      assert.equal((await ask(`${url}/health`)).status, 200)
    }
    child.kill('SIGTERM')
    assert.equal(await ended, 0)
  })

  test('lines wait for room, as many as may, and it is told how many were lost', async (t) => {
    const file = join(newFolder(t), 'auth.log')
    symlinkSync(full, file)
    const told = t.mock.method(console, 'error', () => {})
    const { log, reopen } = createLogger({ level: 'info', file })
    log.info('the first')
    await until(() => told.mock.callCount() > 0, { missing: 'nobody was told' })
    for (let line = 0; line < 20_000; line++) log.info('x'.repeat(900))
    rmSync(file)
    // Asked for while a line is being refused, it is not done.
    do {
      reopen()
      await pause(200)
    } while (!readFileSync(file, 'utf8').includes('were lost'))
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
    const held = lines.map((line) => JSON.parse(line))
    const lost = held.find(({ msg }) => msg.includes('were lost'))?.lost
    assert.equal(held[0]?.msg, 'the first')
    assert.ok(lost > 1_000, `${lost} lines were lost`)
    assert.equal(held.filter(({ msg }) => msg.startsWith('x')).length, 20_000 - lost)
    assert.equal(told.mock.callCount(), 1)
  })
})

function newFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'postern-log-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

async function untilHolds(file: string, text: string): Promise<void> {
  const holds = () => existsSync(file) && readFileSync(file, 'utf8').includes(text)
  await until(holds, { missing: `${file} never held ${text}` })
}
