/** A wrong code runs the same statements for an unknown email as for one with a pending code. */
import assert from 'node:assert/strict'
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { suite, type TestContext, test } from 'node:test'

import { emailAfter } from '../../support/messages/mail-journeys.ts'
import { buildWithSms } from '../../support/messages/phone-journeys.ts'
import { call, verify } from '../../support/requests.ts'
import { type Built, build } from '../../support/server.ts'
import { recordTrips, watchStatements } from '../../support/statements.ts'
import { confirmedUser, newAddress, newNumber, password, signIn } from '../../support/users.ts'

type Who = (server: Built) => Promise<string>

const addresses: Record<string, Who> = {
  noUser: async () => newAddress(),
  'a user with a pending code': async (server) => {
    const email = newAddress()
    await emailAfter(server, email, () => call(server.app, '/signup', { email, password }))
    return email
  },
  'a user without a pending code': async (server) => (await confirmedUser(server)).user.email,
}

/** Counts every row of every table that is written or locked from now on. */
async function countWrites({ app }: Pick<Built, 'app'>): Promise<() => Promise<number>> {
  await app.pool.query('create table if not exists public.writes (what text)')
  await app.pool.query(`create or replace function public.note() returns trigger language plpgsql
    as $$ begin insert into public.writes values (tg_op); return null; end $$`)
  const { rows } = await app.pool.query<{ name: string }>(
    "select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = 'auth'",
  )
  for (const { name } of rows) {
    await app.pool.query(`create or replace trigger note after insert or update or delete on ${name}
      for each row execute function public.note()`)
  }
  return async () => {
    const noted = await app.pool.query('delete from public.writes returning what')
    return noted.rows.length
  }
}

/** Asserts that the request waits for a random time of up to 10 ms, which the test replaces by 300 ms. */
async function assertPaused(t: TestContext, act: () => Promise<void>): Promise<void> {
  const drawn = t.mock.method(crypto, 'randomInt', () => 300)
  syncBuiltinESMExports()
  try {
    const requested = performance.now()
    await act()
    assert.deepEqual(drawn.mock.calls.at(-1)?.arguments, [11])
    assert.ok(performance.now() - requested > 290)
  } finally {
    drawn.mock.restore()
    syncBuiltinESMExports()
  }
}

suite('wrong code', () => {
  for (const type of ['signup', 'recovery', 'email', 'email_change']) {
    test(`a wrong code of type ${type} runs the same statements and writes for each account state`, async (t) => {
      const server = await build(t)
      const requested: string[] = []
      for (const make of Object.values(addresses)) requested.push(await make(server))
      await server.app.jobQueue.stop()
      const writes = await countWrites(server)
      const seen = []
      for (const email of requested) {
        // The first attempt for an email inserts its counter.
        await verify(server.app, { type, email, token: 'x' })
        await writes()
        const statements = await watchStatements(server.app, () =>
          verify(server.app, { type, email, token: 'x' }),
        )
        seen.push({ statements, writes: await writes() })
      }
      assert.equal(seen[0]?.writes, 2, 'the attempt and the token')
      for (const work of seen) assert.deepEqual(work, seen[0])
    })
  }

  test('is rejected after a random delay', async (t) => {
    const { app } = await build(t)
    await assertPaused(t, async () => {
      const response = await verify(app, { type: 'signup', email: newAddress(), token: 'x' })
      assert.equal(response.statusCode, 403)
    })
  })

  test('a wrong code for a phone runs the same statements for each account state', async (t) => {
    const server = await buildWithSms(t)
    await server.app.jobQueue.stop()
    const known = newNumber()
    await call(server.app, '/signup', { phone: known, password })
    const writes = await countWrites(server)
    const seen = []
    for (const phone of [newNumber(), known]) {
      const body = { type: 'sms', phone, token: 'x' }
      await call(server.app, '/verify', body)
      await writes()
      const statements = await watchStatements(server.app, () => call(server.app, '/verify', body))
      seen.push({ statements, writes: await writes() })
    }
    assert.deepEqual(seen[1], seen[0])
  })
})

suite('wrong password', () => {
  test('is rejected after a random delay for each account state', async (t) => {
    const server = await build(t)
    const requested = []
    for (const make of Object.values(addresses)) requested.push(await make(server))
    for (const email of requested) {
      await assertPaused(t, async () => {
        assert.equal((await signIn(server.app, { email, password: 'wrong' })).statusCode, 400)
      })
    }
  })
})

suite('POST /signup', () => {
  test('runs as many statements for an unverified and a taken email as for a new one', async (t) => {
    const server = await build(t, { env: { AUTH_DB_MAX_POOL_SIZE: '1' } })
    const counts: Record<string, number[]> = {}
    // The second run: the single connection has prepared all statements and pipelines them.
    for (const _round of [1, 2]) {
      for (const [who, make] of Object.entries(addresses)) {
        const email = await make(server)
        const trips = await recordTrips(server.app, () =>
          call(server.app, '/signup', { email, password }),
        )
        counts[who] = [trips.flat().length, trips.length]
      }
    }
    const { noUser: unknown, ...others } = counts
    assert.deepEqual(Object.values(others), [unknown, unknown], JSON.stringify(counts))
  })
})
