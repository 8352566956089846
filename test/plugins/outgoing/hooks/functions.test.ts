/** Results of database functions as hooks. */
import assert from 'node:assert/strict'
import { connect, createServer, type Socket } from 'node:net'
import { suite, test } from 'node:test'

import { createMetrics } from '../../../../plugins/observability/telemetry/index.ts'
import { withoutTracing } from '../../../../plugins/observability/telemetry/tracing.ts'
import { createCaller } from '../../../../plugins/outgoing/hooks/caller.ts'
import { createFunctionHooks } from '../../../../plugins/outgoing/hooks/postgres.ts'
import { ApiError, HookError } from '../../../../schemas/errors.ts'
import { emptyDatabase, openPool } from '../../../support/database.ts'
import { endingOfSuite, lastFirst } from '../../../support/processes/ending.ts'
import { listen } from '../../../support/processes/listening.ts'
import { until } from '../../../support/processes/until.ts'

const unwatched = {
  log: { warn: () => {} },
  metrics: createMetrics(undefined),
  tracing: withoutTracing,
}
const throwing = (code: string) =>
  `raise exception 'Not today' using errcode = '${code}', hint = 'tomorrow', detail = 'a secret'`

const rows: [name: string, body: string, heard: [number, string, RegExp] | undefined][] = [
  ['an object', `return '{"a":1}'`, undefined],
  ['null', 'return null', undefined],
  ['an error', `return '{"error":{"http_code":403,"message":"No"}}'`, [403, 'unknown', /^No$/]],
  ['an exception', throwing('P0001'), [500, 'unexpected_failure', /^Not today$/]],
  ['an exception with a status', throwing('PT402'), [402, 'unknown', /^Not today$/]],
  ['an exception with a 2xx status', throwing('PT204'), [500, 'unexpected_failure', /^A hook/]],
  [
    'a division by zero',
    'perform 1 / 0; return null',
    [500, 'unexpected_failure', /^A hook returned an error/],
  ],
  [
    'a function that sleeps',
    'perform pg_sleep(5); return null',
    [500, 'unexpected_failure', /in time/],
  ],
  [
    'a function whose connection Postgres closes',
    'perform pg_terminate_backend(pg_backend_pid()); perform pg_sleep(1); return null',
    [503, 'service_unavailable', /cannot be reached/],
  ],
  ['a value that is not an object', `return '[1]'`, [500, 'unexpected_failure', /no object/]],
]

suite('hook as database function', { concurrency: 3 }, () => {
  const ending = endingOfSuite()
  const started = start(ending)

  for (const [index, [name, body, received]] of rows.entries()) {
    test(`${name}: ${received ? `returns ${received[0]} ${received[1]}` : 'is accepted'}`, async () => {
      const { make, call } = await started
      await make(`"Fn ${index}"`, body)
      const requested = call(`Fn ${index}`)
      if (!received) return void (await requested)
      await assert.rejects(requested, (error) => {
        assert.ok(error instanceof ApiError)
        assert.deepEqual([error.status, error.errorCode], received.slice(0, 2))
        assert.match(error.message, received[2])
        return true
      })
    })
  }

  test('receives the complete event', async () => {
    const { make, call } = await started
    await make('echo', 'return event')
    const { metadata, user_id } = await call('echo')
    assert.equal(user_id, 'ann')
    assert.deepEqual(Object.keys(Object(metadata)).sort(), ['ip_address', 'name', 'time', 'uuid'])
  })

  test('may accept json and return void', async () => {
    const { pool, call } = await started
    await pool.query(`create function operator.quiet(event json) returns void language sql as ''`)
    assert.deepEqual(await call('quiet'), {})
  })

  test('returns 500 and logs the name when it does not exist', async () => {
    const { call } = await started
    await assert.rejects(call('missing'), (error) => {
      assert.ok(error instanceof ApiError)
      assert.equal(error.status, 500)
      assert.match(String(error.details.cause), /operator\.missing/)
      return true
    })
  })

  test('commits its writes and rolls them back when it fails', async () => {
    const { pool, make, call } = await started
    await pool.query('create table operator.written (a int)')
    await make('writes', 'insert into operator.written values (1); return null')
    await make('fails', `insert into operator.written values (2); ${throwing('P0001')}`)
    await call('writes')
    await assert.rejects(call('fails'))
    const { rows: written } = await pool.query('select a from operator.written')
    assert.deepEqual(written, [{ a: 1 }])
  })

  test('moves to the new primary after a failover', async (t) => {
    const { pool, hooks, url, make } = await start(lastFirst(t))
    const name = new URL(url).pathname.slice(1)
    await make('writes', 'create table if not exists operator.noted (); return null')
    await pool.query(`alter database ${name} set default_transaction_read_only = on`)
    const call = hooks(url).transport('pg-functions://x/operator/writes')
    await assert.rejects(call('{}'))
    await pool.query(`alter database ${name} reset default_transaction_read_only`)

    const responses = () =>
      call('{}').then(
        () => true,
        () => false,
      )
    await until(responses, { seconds: 20, missing: 'it stays with the replica' })
  })

  test('replaces a connection closed by the database while idle', async () => {
    const { pool, hooks, url, make } = await started
    await make('backend', `return jsonb_build_object('pid', pg_backend_pid())`)
    const transport = hooks(url).transport('pg-functions://x/operator/backend')
    const pidNow = async () => Object(await transport('{}')).pid
    const pid = await pidNow()
    await pool.query('select pg_terminate_backend($1, 10000)', [pid])
    await until(async () => (await pidNow().catch(() => pid)) !== pid)
  })

  test('sends statement, timeout and transaction in one round trip', async () => {
    const { make, hooks, slow } = await started
    await make('quick', 'return null')
    const transport = hooks(slow.url).transport('pg-functions://x/operator/quick')
    await transport('{}')
    const before = slow.link.roundTrips
    await transport('{}')
    assert.equal(slow.link.roundTrips - before, 1)
  })
})

test('a send email function is not called again after a lost connection', async (t) => {
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

  const pending = caller({}, { ip: null })

  await assert.rejects(pending, (error) => {
    assert.ok(error instanceof HookError)
    assert.deepEqual([error.kind, error.status, error.details.retryAfter], ['timeout', 503, 5])
    return true
  })
  assert.equal((await pool.query('select from operator.sent')).rowCount, 1)
  await hooks.close()
  await link.stop()
  await pool.end()
})

/** The same database through a link that fails after the commit and before its response. */
function lossyLink(target: URL) {
  return linkTo(target, (near, far) => {
    let commits = false
    near.on('data', (chunk) => {
      commits ||= chunk.includes('commit')
      far.write(chunk)
    })
    far.on('data', (chunk) => {
      if (!commits) return near.write(chunk)
      // The last response message: a command completed.
      return chunk.includes('COMMIT') && near.destroy()
    })
  })
}

/** Bytes of a response. */
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

/** The same database through a link with delayed responses, to observe pipelining. */
async function slowLink(target: URL) {
  const link = { roundTrips: 0 }
  const { url, stop } = await linkTo(target, (near, far) => {
    let isNextTrip = true
    near.on('data', (chunk) => {
      if (isNextTrip) link.roundTrips += 1
      isNextTrip = false
      far.write(chunk)
    })
    far.on('data', (chunk) => {
      setTimeout(() => {
        isNextTrip = true
        if (near.writable) near.write(chunk)
      }, delayMs)
    })
  })
  return { url, link, stop }
}

/** The same database through a link; `carry` forwards bytes from us (`near`) and back (`far`). */
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
