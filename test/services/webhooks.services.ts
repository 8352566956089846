/** Server and receiver are killed (SIGKILL) at every step of a delivery: each event arrives, in order for each user. */
import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

import pg from 'pg'

import { cloneDatabase } from '../support/database.ts'
import { type Ending, lastFirst } from '../support/processes/ending.ts'
import { freePort } from '../support/processes/free-port.ts'
import { startServerProcess } from '../support/processes/server-process.ts'
import { until } from '../support/processes/until.ts'
import { webhookEnv, webhookSecret } from '../support/webhooks/webhook-receiver.ts'
import { createFolder } from './programs.ts'

const userCount = 6
const changesEach = 4
const password = 'correct horse battery'

/** The killed process and the receiver’s step; without a step, when the last change had its response. */
const steps: { name: string; victim: 'server' | 'receiver'; at?: string }[] = [
  { name: 'the server, after a change was answered', victim: 'server' },
  { name: 'the server, while it sends', victim: 'server', at: 'received' },
  { name: 'the server, when the receiver has it', victim: 'server', at: 'written' },
  { name: 'the server, when the receiver has answered', victim: 'server', at: 'answered' },
  { name: 'the receiver, before it has written it down', victim: 'receiver', at: 'received' },
  { name: 'the receiver, before it answers', victim: 'receiver', at: 'written' },
]

test('webhooks are delivered after kill -9 of server or receiver at each step', async (context) => {
  const t = lastFirst(context)
  const database = await cloneDatabase(t)
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  t.after(() => client.end())
  const receiver = await startReceiver(t)
  const env = {
    AUTH_MAILER_AUTOCONFIRM: 'true',
    DATABASE_URL: database.url,
    PORT: String(await freePort()),
    ...webhookEnv(receiver),
  }
  let server = await startServerProcess(t, env)
  const users = await Promise.all(
    Array.from({ length: userCount }, (_, i) => signUp(server.url, i)),
  )
  const reported = new Map<string, number>(users.map(({ id }) => [id, 0]))

  for (const [round, { name, victim, at }] of steps.entries()) {
    const changes = users.map(async ({ id, token }) => {
      for (let i = 0; i < changesEach; i++) {
        const number = round * changesEach + i
        if (await change(server.url, token, number)) reported.set(id, (reported.get(id) ?? 0) + 1)
      }
    })
    const isReached = at === undefined ? Promise.all(changes) : receiver.says(at)
    await isReached
    if (victim === 'server') {
      server.child.kill('SIGKILL')
      await server.ended
      server = await startServerProcess(t, env)
    } else {
      await receiver.kill()
      await receiver.start()
    }
    await Promise.all(changes)
    // Otherwise the next kill hits retried events, whose next attempt is minutes away.
    await until(async () => (await waiting(client)) === 0, { seconds: 60 })
    context.diagnostic(`${name}: killed`)
  }

  const { rows: stream } = await client.query(
    'select id, type, user_id, position from auth.postern_events order by position',
  )
  const lines = receiver.lines()
  const arrived = new Map<string, string>()
  for (const { id, body } of lines) {
    assert.equal(arrived.get(id) ?? body, body, 'one id, one body')
    if (!arrived.has(id)) arrived.set(id, body)
  }
  assert.deepEqual([...arrived.keys()].toSorted(), stream.map(({ id }) => id).toSorted())
  for (const { id: userId } of users) {
    const inStream = stream.filter(({ user_id }) => user_id === userId)
    const inOrder = [...arrived.keys()].filter((id) => inStream.some((event) => event.id === id))
    assert.deepEqual(
      inOrder,
      inStream.map(({ id }) => id),
    )
    const updates = inStream.filter(({ type }) => type === 'user.updated').length
    assert.ok(updates >= (reported.get(userId) ?? 0), 'each acknowledged change is delivered')
  }
  context.diagnostic(`${stream.length} events, ${lines.length} arrivals`)
  assert.ok(lines.length > stream.length, 'some were sent twice, or nothing was killed in time')
})

async function startReceiver(t: Ending) {
  const port = await freePort()
  const file = join(createFolder(t), 'received')
  const script = new URL('./webhook-receiver.ts', import.meta.url).pathname
  let child: ChildProcess

  async function start(): Promise<void> {
    child = fork(script, [String(port), file, webhookSecret])
    await expectedText('listening')
  }

  /** Resolves at its next line of this kind. */
  async function expectedText(word: string): Promise<void> {
    for (;;) if ((await once(child, 'message'))[0] === word) return
  }

  async function kill(): Promise<void> {
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }

  function lines(): { id: string; body: string }[] {
    if (!existsSync(file)) return []
    const whole = readFileSync(file, 'utf8').split('\n').slice(0, -1)
    return whole.map((line) => JSON.parse(line))
  }

  await start()
  t.after(kill)
  return { url: `http://127.0.0.1:${port}/`, start, says: expectedText, kill, lines }
}

async function post(url: string, method: string, body: object, token?: string) {
  const headers = {
    'content-type': 'application/json',
    ...(token && { authorization: `Bearer ${token}` }),
  }
  return fetch(url, { method, headers, body: JSON.stringify(body) })
}

async function signUp(url: string, number: number): Promise<{ id: string; token: string }> {
  const response = await post(`${url}/signup`, 'POST', {
    email: `p${number}@example.com`,
    password,
  })
  const session: { user: { id: string }; access_token: string } = JSON.parse(await response.text())
  return { id: session.user.id, token: session.access_token }
}

/** False without a response. */
async function change(url: string, token: string, number: number): Promise<boolean> {
  try {
    return (await post(`${url}/user`, 'PUT', { data: { number } }, token)).ok
  } catch {
    return false
  }
}

async function waiting(client: pg.Client): Promise<number> {
  const { rows } = await client.query(`select
    (select count(*) from auth.postern_event_inbox)
    + (select count(*) from auth.postern_webhook_deliveries where state <> 'delivered') as count`)
  return Number(rows[0].count)
}
