import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { readFile, rename } from 'node:fs/promises'
import { Agent } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { suite, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'

import pg from 'pg'

import { cloneDatabase } from '../support/database.ts'
import { startCli } from '../support/processes/cli-process.ts'
import { type Ending, endingOfSuite } from '../support/processes/ending.ts'
import { freePort } from '../support/processes/free-port.ts'
import {
  httpGet,
  isReady,
  needed,
  startServerProcess,
} from '../support/processes/server-process.ts'
import { temporaryFolder } from '../support/processes/temporary-folder.ts'
import { until } from '../support/processes/until.ts'

suite('shutdown', { concurrency: 2 }, () => {
  test('SIGTERM: closes connections, completes running requests and exits with 0', async (t) => {
    const { url: DATABASE_URL } = await cloneDatabase(t)
    const server = await startServerProcess(t, {
      DATABASE_URL,
      AUTH_SHUTDOWN_DELAY: '30s',
      AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
    })
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    t.after(() => agent.destroy())
    assert.equal((await httpGet(`${server.url}/ready`, agent)).status, 200)
    const lock = await lockUsers(DATABASE_URL)
    const signUp = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }
    const response = fetch(`${server.url}/signup`, signUp)
    await until(() => lock.isWaitedFor())

    server.child.kill('SIGTERM')

    const reported = await untilStopping(server.url, agent)
    assert.deepEqual(reported, { status: 503, connection: 'close' })
    await lock.release()
    assert.equal((await response).status, 200)
    assert.equal(await server.ended, 0)
  })

  test('a second signal ends the process immediately', async (t) => {
    const server = await startServerProcess(t, { AUTH_SHUTDOWN_DELAY: '60s' })
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    t.after(() => agent.destroy())
    await httpGet(`${server.url}/health`, agent)
    server.child.kill('SIGTERM')
    await pause(1_100)
    server.child.kill('SIGTERM')
    assert.equal(await server.ended, 1)
  })

  for (const workers of ['1', '2']) {
    test(`AUTH_WORKERS=${workers}: SIGTERM ends a start that waits for the database`, async (t) => {
      const env = {
        ...needed,
        LOG_LEVEL: 'info',
        AUTH_WORKERS: workers,
        DATABASE_URL: `postgres://a@127.0.0.1:${await freePort()}/a`,
      }
      const { child, written, ended } = startCli(t, ['serve'], { cwd: tmpdir(), env })
      await until(() => written.out.includes('does not respond yet'))
      child.kill('SIGTERM')
      // Without a handler there would be no exit code, and the first process of a container would not end.
      assert.equal(await ended, 0)
      assert.match(written.out, /SIGTERM: startup aborted/)
    })
  }

  test('workers share the port, are replaced when one exits, and end together', async (t) => {
    const folder = temporaryFolder(t, 'log')
    const file = join(folder, 'auth.log')
    const logged = { AUTH_LOG_FILE: file, LOG_LEVEL: 'error' }
    const server = await startServerProcess(t, { ...logged, AUTH_WORKERS: '2' })
    const first = listWorkers(server.child)
    assert.equal(first.length, 2)
    process.kill(first[0] ?? 0, 'SIGKILL')
    await until(() => listWorkers(server.child).filter((pid) => !first.includes(pid)).length === 1)
    const died =
      /"worker":(\d),"pid":(\d+),.*"msg":"worker (\d) was killed by SIGKILL and will be replaced"/
    await until(async () => died.test(await readFile(file, 'utf8')))
    const [, worker, pid, named] = died.exec(await readFile(file, 'utf8')) ?? []
    assert.deepEqual([worker, pid], [named, String(first[0])])
    // The killed worker may have been the only one listening so far.
    await until(() => isReady(server.url))
    server.child.kill('SIGTERM')
    assert.equal(await server.ended, 0)
    for (const pid of listWorkers(server.child)) assert.throws(() => process.kill(pid, 0))
  })

  test('a late reader of the log gets all lines, and a missing reader does not block the server', async (t) => {
    const { url: DATABASE_URL } = await cloneDatabase(t)
    const readers: Record<string, (output: Readable) => Promise<string> | undefined> = {
      late: async (output) => {
        await pause(2_000)
        return text(output)
      },
      none: () => undefined,
      gone: (output) => void output.destroy(),
    }
    for (const [name, read] of Object.entries(readers)) {
      const server = await startServerProcess(
        t,
        { DATABASE_URL, LOG_LEVEL: 'info' },
        { log: 'pipe' },
      )
      const { stdout } = server.child
      assert.ok(stdout)
      // More lines than a pipe buffers.
      await pipeline(server.url, '/health', 1500)
      const lines = read(stdout)
      server.child.kill('SIGTERM')
      const written = await lines
      assert.equal(await server.ended, 0, name)
      if (written === undefined) continue
      assert.equal(written.match(/"route":"\/health"/g)?.length, 1500)
      assert.match(written, /SIGTERM: finishing running work/)
    }
  })

  const ending = endingOfSuite()
  let atInfo: ReturnType<typeof reopenLog> | undefined
  const logAtInfo = () => {
    atInfo ??= reopenLog(ending, 'info')
    return atInfo
  }

  test('LOG_LEVEL is the minimum level of written lines', async () => {
    const info = await logAtInfo()
    const error = await reopenLog(ending, 'error')
    assert.match(info.later, /"route":"\/health"/)
    assert.equal(error.first + error.later, '')
  })

  test('SIGHUP reopens the log file', async () => {
    const { first, later } = await logAtInfo()
    assert.match(later, /"route":"\/health"/)
    assert.doesNotMatch(first, /"route":"\/health"/)
  })
})

/** What a server has logged before SIGHUP to a file that was renamed then, and after it, until its end. */
async function reopenLog(t: Ending, LOG_LEVEL: string) {
  const file = join(temporaryFolder(t, 'log'), 'auth.log')
  const server = await startServerProcess(t, { AUTH_LOG_FILE: file, LOG_LEVEL })
  await rename(file, `${file}.1`)
  server.child.kill('SIGHUP')
  await until(() => existsSync(file))
  await httpGet(`${server.url}/health`)
  server.child.kill('SIGTERM')
  assert.equal(await server.ended, 0)
  return { first: await readFile(`${file}.1`, 'utf8'), later: await readFile(file, 'utf8') }
}

/** Sends all requests on one connection without waiting for responses, and waits until all have succeeded. */
async function pipeline(url: string, path: string, count: number): Promise<void> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const last = `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(count - 1) + last)
  const responses = await text(socket)
  assert.equal(responses.match(/HTTP\/1\.1 200 /g)?.length, count)
}

/** Blocks sign-ups. */
async function lockUsers(connectionString: string) {
  const client = new pg.Client({ connectionString })
  await client.connect()
  await client.query('begin; lock table auth.users in access exclusive mode')
  return {
    async isWaitedFor(): Promise<boolean> {
      const { rowCount } = await client.query(
        `select from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock'`,
      )
      return rowCount !== 0
    },
    async release(): Promise<void> {
      await client.query('commit')
      await client.end()
    },
  }
}

/** Repeats the request on the open connection until the response changes. */
function untilStopping(url: string, agent: Agent) {
  return until(
    async () => {
      const response = await httpGet(`${url}/ready`, agent)
      return response.status !== 200 && response
    },
    { everyMs: 20, missing: 'the server did not begin to stop' },
  )
}

function listWorkers({ pid }: ChildProcess): number[] {
  try {
    const list = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    return list.trim().split(' ').filter(Boolean).map(Number)
  } catch {
    return []
  }
}
