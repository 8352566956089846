/** What becomes of each answer of a database function that is a hook. */
import assert from 'node:assert/strict'
import { connect, createServer, type Socket } from 'node:net'
import { suite, test } from 'node:test'

import { ApiError, HookError } from '../../errors.ts'
import { createCaller } from '../../plugins/hooks/caller.ts'
import { createFunctionHooks } from '../../plugins/hooks/postgres.ts'
import { createMetrics } from '../../plugins/telemetry/metrics.ts'
import { withoutTracing } from '../../plugins/telemetry/tracing.ts'
import { emptyDatabase, openPool } from '../support/database.ts'
import { endingOfSuite, lastFirst } from '../support/ending.ts'
import { listen } from '../support/listening.ts'
import { until } from '../support/until.ts'

const unwatched = {
  log: { warn: () => {} },
  metrics: createMetrics(undefined),
  tracing: withoutTracing,
}
const raise = (code: string) =>
  `raise exception 'Not today' using errcode = '${code}', hint = 'tomorrow', detail = 'a secret'`

const rows: [name: string, body: string, heard: [number, string, RegExp] | undefined][] = [
  ['an object', `return '{"a":1}'`, undefined],
  ['null', 'return null', undefined],
  ['an error', `return '{"error":{"http_code":403,"message":"No"}}'`, [403, 'unknown', /^No$/]],
  ['an exception', raise('P0001'), [500, 'unexpected_failure', /^Not today$/]],
  ['an exception with a status', raise('PT402'), [402, 'unknown', /^Not today$/]],
  ['an exception with a status of success', raise('PT204'), [500, 'unexpected_failure', /^A hook/]],
  ['a mistake', 'perform 1 / 0; return null', [500, 'unexpected_failure', /^A hook answered that/]],
  ['one that sleeps', 'perform pg_sleep(5); return null', [500, 'unexpected_failure', /in time/]],
  [
    'one whose connection Postgres ends',
    'perform pg_terminate_backend(pg_backend_pid()); perform pg_sleep(1); return null',
    [503, 'service_unavailable', /cannot be reached/],
  ],
  ['no object', `return '[1]'`, [500, 'unexpected_failure', /no object/]],
]

suite('a hook that is a database function', { concurrency: 3 }, () => {
  const ending = endingOfSuite()
  const started = start(ending)

  for (const [index, [name, body, heard]] of rows.entries()) {
    test(`${name}: ${heard ? `${heard[0]} ${heard[1]}` : 'yes'}`, async () => {
      const { make, call } = await started
      await make(`"Fn ${index}"`, body)
      const asked = call(`Fn ${index}`)
      if (!heard) return void (await asked)
      await assert.rejects(asked, (error) => {
        assert.ok(error instanceof ApiError)
        assert.deepEqual([error.status, error.errorCode], heard.slice(0, 2))
        assert.match(error.message, heard[2])
        return true
      })
    })
  }

  test('is given the whole event', async () => {
    const { make, call } = await started
    await make('echo', 'return event')
    const { metadata, user_id } = await call('echo')
    assert.equal(user_id, 'ann')
    assert.deepEqual(Object.keys(Object(metadata)).sort(), ['ip_address', 'name', 'time', 'uuid'])
  })

  test('may take json, and return nothing', async () => {
    const { pool, call } = await started
    await pool.query(`create function operator.quiet(event json) returns void language sql as ''`)
    assert.deepEqual(await call('quiet'), {})
  })

  test('one that does not exist is an error of 500, and the log says which', async () => {
    const { call } = await started
    await assert.rejects(call('missing'), (error) => {
      assert.ok(error instanceof ApiError)
      assert.equal(error.status, 500)
      assert.match(String(error.details.cause), /operator\.missing/)
      return true
    })
  })

  test('what it wrote is kept, and undone when it fails', async () => {
    const { pool, make, call } = await started
    await pool.query('create table operator.written (a int)')
    await make('writes', 'insert into operator.written values (1); return null')
    await make('fails', `insert into operator.written values (2); ${raise('P0001')}`)
    await call('writes')
    await assert.rejects(call('fails'))
    const { rows: written } = await pool.query('select a from operator.written')
    assert.deepEqual(written, [{ a: 1 }])
  })

  test('a server that takes no writes is left for the one that new connections lead to', async (t) => {
    const { pool, hooks, url, make } = await start(lastFirst(t))
    const name = new URL(url).pathname.slice(1)
    await make('writes', 'create table if not exists operator.noted (); return null')
    await pool.query(`alter database ${name} set default_transaction_read_only = on`)
    const call = hooks(url).transport('pg-functions://x/operator/writes')
    await assert.rejects(call('{}'))
    await pool.query(`alter database ${name} reset default_transaction_read_only`)

    const answers = () =>
      call('{}').then(
        () => true,
        () => false,
      )
    await until(answers, { seconds: 20, missing: 'it stays with the replica' })
  })

  test('a connection that the database ends while nobody uses it is replaced', async () => {
    const { pool, hooks, url, make } = await started
    await make('backend', `return jsonb_build_object('pid', pg_backend_pid())`)
    const transport = hooks(url).transport('pg-functions://x/operator/backend')
    const pidNow = async () => Object(await transport('{}')).pid
    const pid = await pidNow()
    await pool.query('select pg_terminate_backend($1, 10000)', [pid])
    await until(async () => (await pidNow().catch(() => pid)) !== pid)
  })

  test('the statement, its limit and its transaction take one round trip', async () => {
    const { make, hooks, slow } = await started
    await make('quick', 'return null')
    const transport = hooks(slow.url).transport('pg-functions://x/operator/quick')
    await transport('{}')
    const before = slow.link.roundTrips
    await transport('{}')
    assert.equal(slow.link.roundTrips - before, 1)
  })
})

test('one whose connection is lost may have been done: no mail is handed to it again', async (t) => {
  const database = await emptyDatabase(t)
  const pool = openPool({ connectionString: database.url })
  await pool.query('create schema operator; create table operator.sent (event jsonb)')
  await pool.query(
    `create function operator.send(event jsonb) returns void language sql
     as $$ insert into operator.sent values (event) $$`,
  )
  const link = await lossyLink(new URL(database.url))
  const hooks = createFunctionHooks({ connectionString: link.url }, true)
  const caller = createCaller(
    'send-email',
    hooks.transport('pg-functions://postgres/operator/send'),
    unwatched,
  )

  const asked = caller({}, { ip: null })

  await assert.rejects(asked, (error) => {
    assert.ok(error instanceof HookError)
    assert.deepEqual([error.fault, error.status, error.details.retryAfter], ['silent', 503, 5])
    return true
  })
  assert.equal((await pool.query('select from operator.sent')).rowCount, 1)
  await hooks.close()
  await link.stop()
  await pool.end()
})

/** The same database behind a link that is lost when Postgres has committed and before it could say so. */
function lossyLink(target: URL) {
  return linkTo(target, (near, far) => {
    let commits = false
    near.on('data', (chunk) => {
      commits ||= chunk.includes('commit')
      far.write(chunk)
    })
    far.on('data', (chunk) => {
      if (!commits) return near.write(chunk)
      // The last of the answers: a command was completed.
      return chunk.includes('COMMIT') && near.destroy()
    })
  })
}

/** Of an answer. */
const delayMs = 50

async function start(ending: { after(stop: () => Promise<void>): void }) {
  const database = await emptyDatabase(ending)
  const pool = openPool({ connectionString: database.url })
  await pool.query('create schema operator')
  const opened: { close(): Promise<void> }[] = []
  const hooks = (connectionString: string) => {
    const made = createFunctionHooks({ connectionString, max: 20 }, true)
    opened.push(made)
    return made
  }
  const own = hooks(database.url)
  const slow = await slowLink(new URL(database.url))
  ending.after(async () => {
    for (const { close } of opened) await close()
    await slow.stop()
    await pool.end()
  })
  return {
    pool,
    url: database.url,
    hooks,
    slow,
    make: (name: string, body: string) =>
      pool.query(
        `create function operator.${name}(event jsonb) returns jsonb language plpgsql as $body$ begin ${body}; end $body$`,
      ),
    call: (name: string) => {
      const transport = own.transport(
        `pg-functions://postgres/operator/${encodeURIComponent(name)}`,
      )
      const caller = createCaller('send-sms', transport, unwatched)
      return caller({ user_id: 'ann' }, { ip: null })
    },
  }
}

/** The same database behind a link on which an answer comes late, so that what is sent at once is seen to be. */
async function slowLink(target: URL) {
  const link = { roundTrips: 0 }
  const { url, stop } = await linkTo(target, (near, far) => {
    let isAnswered = true
    near.on('data', (chunk) => {
      if (isAnswered) link.roundTrips += 1
      isAnswered = false
      far.write(chunk)
    })
    far.on('data', (chunk) => {
      setTimeout(() => {
        isAnswered = true
        if (near.writable) near.write(chunk)
      }, delayMs)
    })
  })
  return { url, link, stop }
}

/** The same database by way of a link, which `carry` takes the bytes over, from us (`near`) and back (`far`). */
async function linkTo(target: URL, carry: (near: Socket, far: Socket) => void) {
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname)
    carry(near, far)
    near.on('close', () => far.destroy()).on('error', () => {})
    far.on('close', () => near.destroy()).on('error', () => {})
  })
  const url = new URL(target)
  url.host = `127.0.0.1:${await listen(server)}`
  const stop = () => new Promise<void>((resolve) => void server.close(() => resolve()))
  return { url: url.href, stop }
}
