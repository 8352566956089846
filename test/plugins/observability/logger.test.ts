import assert from 'node:assert/strict'
import { existsSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'

import pg from 'pg'

import { createLogger, createPino } from '../../../plugins/observability/logger/index.ts'
import { httpGet, startServerProcess } from '../../support/processes/server-process.ts'
import { temporaryFolder } from '../../support/processes/temporary-folder.ts'
import { until, untilRows } from '../../support/processes/until.ts'
import { build } from '../../support/server.ts'

function logged(level: string, write: (log: ReturnType<typeof createPino>) => void): string[] {
  const lines: string[] = []
  write(createPino(level, { write: (line: string) => void lines.push(line) }))
  return lines
}

suite('log', () => {
  const levels: [string, number][] = [
    ['panic', 1],
    ['fatal', 1],
    ['error', 2],
    ['warn', 3],
    ['info', 4],
    ['debug', 5],
  ]
  for (const [level, count] of levels) {
    test(`level ${level} writes ${count} of five levels`, () => {
      const lines = logged(level, (log) => {
        for (const name of ['fatal', 'error', 'warn', 'info', 'debug'] as const) log[name](name)
      })
      assert.equal(lines.length, count)
    })
  }

  test('redacts secrets, also in nested objects', () => {
    const names = [
      'password',
      'token',
      'token_hash',
      'access_token',
      'refresh_token',
      'code',
      'nonce',
      'secret',
      'authorization',
      'apikey',
      'email',
      'phone',
    ]
    const secrets = Object.fromEntries(names.map((name) => [name, 'open sesame']))
    const [line = ''] = logged('info', (log) => log.info({ ...secrets, user: secrets }, 'x'))
    const redacted = Object.fromEntries(names.map((name) => [name, '[redacted]']))
    const { user, ...fields } = JSON.parse(line)
    assert.deepEqual(user, redacted)
    assert.deepEqual({ ...fields, ...redacted }, fields)
  })

  test('omits values from database errors', () => {
    const error = Object.assign(new Error('duplicate key'), {
      code: '23505',
      detail: 'Key (email)=(a@example.com) already exists.',
    })
    const [line = ''] = logged('info', (log) => log.error({ err: error }, 'x'))
    assert.match(line, /23505/)
    assert.doesNotMatch(line, /a@example/)
  })

  test('writes one line per request with id, method, route, status and time, without the URL', async (t) => {
    const lines: string[] = []
    const { app } = await build(t, { lines })
    const response = await app.inject({ url: '/verify?type=signup&token=secret-token' })
    const line = lines.map((one) => JSON.parse(one)).find(({ route }) => route === '/verify')
    const { request_id, method, status, ms } = line
    assert.equal(request_id, response.headers['x-request-id'])
    assert.deepEqual({ method, status }, { method: 'GET', status: response.statusCode })
    assert.equal(typeof ms, 'number')
    assert.ok(!lines.join('').includes('secret-token'))
  })

  test('writes one line when the client disconnects', async (t) => {
    const lines: string[] = []
    const { app, database } = await build(t, { lines })
    const url = await app.listen({ host: '127.0.0.1', port: 0 })
    const locker = new pg.Client({ connectionString: database.url })
    await locker.connect()
    await locker.query('begin; lock table auth.users in access exclusive mode')
    const leaving = new AbortController()
    const body = JSON.stringify({ email: 'left@x.example', password: 'long enough for this' })
    const left = fetch(`${url}/signup`, { method: 'POST', body, signal: leaving.signal })
    await untilRows(async () => {
      await locker.query('select pg_stat_clear_snapshot()')
      const waiting = `select from pg_stat_activity where wait_event_type = 'Lock'
        and datname = current_database()`
      return (await locker.query(waiting)).rows
    })

    leaving.abort()
    await assert.rejects(left)
    const lineOfIt = () =>
      lines.map((one) => JSON.parse(one)).find(({ route }) => route === '/signup')
    const line = await until(lineOfIt).finally(() => locker.end())

    const { method, status, ms, msg } = line
    assert.deepEqual({ method, status }, { method: 'POST', status: undefined })
    assert.equal(typeof ms, 'number')
    assert.equal(msg, 'client disconnected before the response')
    await untilRows(async () => (await app.pool.query('select 1 from auth.users')).rows)
  })
})

suite('AUTH_LOG_FILE', () => {
  test('rejects a file that cannot be opened, with an explanation', (t) => {
    for (const file of ['/proc/nosuch/x.log', newFolder(t)]) {
      assert.throws(() => createLogger({ level: 'info', file }), {
        message: /^AUTH_LOG_FILE cannot be written \(.+\): name a file in a folder/,
      })
    }
  })

  test('keeps the open file when it cannot be reopened, and logs it', async (t) => {
    const folder = newFolder(t)
    const file = join(folder, 'deep', 'auth.log')
    const { log, reopen } = createLogger({ level: 'info', file })
    log.info('before')
    await untilTrue(file, 'before')
    renameSync(file, `${file}.1`)
    // A folder in place of the file, which root cannot open either.
    symlinkSync(folder, file)
    reopen()
    log.info('after')
    await untilTrue(`${file}.1`, 'after')
    assert.match(readFileSync(`${file}.1`, 'utf8'), /log file cannot be reopened/)
  })
})

/** Accepts no byte, like a full disk. */
const full = '/dev/full'

suite('full disk', { skip: !existsSync(full) }, () => {
  test('does not stop requests or the shutdown', async (t) => {
    const env = { AUTH_LOG_FILE: full, LOG_LEVEL: 'info' }
    const { child, url, ended } = await startServerProcess(t, env)
    for (let request = 0; request < 5; request++) {
      await pause(100)
      assert.equal((await httpGet(`${url}/health`)).status, 200)
    }
    child.kill('SIGTERM')
    assert.equal(await ended, 0)
  })

  test('buffers lines up to a limit and reports the lost ones', async (t) => {
    const file = join(newFolder(t), 'auth.log')
    symlinkSync(full, file)
    const consoleError = t.mock.method(console, 'error', () => {})
    const { log, reopen } = createLogger({ level: 'info', file })
    log.info('the first')
    await until(() => consoleError.mock.callCount() > 0, { missing: 'nothing was reported' })
    for (let line = 0; line < 20_000; line++) log.info('x'.repeat(900))
    rmSync(file)
    // A flush during a failed write is not lost.
    do {
      reopen()
      await pause(200)
    } while (!readFileSync(file, 'utf8').includes('lines lost'))
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
    const lock = lines.map((line) => JSON.parse(line))
    const lost = lock.find(({ msg }) => msg.includes('lines lost'))?.lost
    assert.equal(lock[0]?.msg, 'the first')
    assert.ok(lost > 1_000, `${lost} lines were lost`)
    assert.equal(lock.filter(({ msg }) => msg.startsWith('x')).length, 20_000 - lost)
    assert.equal(consoleError.mock.callCount(), 1)
  })
})

function newFolder(t: TestContext): string {
  const folder = temporaryFolder(t, 'log')
  return folder
}

async function untilTrue(file: string, text: string): Promise<void> {
  const locks = () => existsSync(file) && readFileSync(file, 'utf8').includes(text)
  await until(locks, { missing: `${file} never held ${text}` })
}
