/** Row 11: a wrong code makes the database do the same for an address that nobody has as for one that waits for a code. */
import assert from 'node:assert/strict'
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { suite, test } from 'node:test'

import { mailAfter } from '../support/mail-journeys.ts'
import { confirmedPerson, newAddress, newNumber, password } from '../support/people.ts'
import { buildWithSms } from '../support/phone-journeys.ts'
import { call, verify } from '../support/requests.ts'
import { type Built, build } from '../support/server.ts'
import { statementsOf, tripsOf } from '../support/statements.ts'

type Who = (server: Built) => Promise<string>

const addresses: Record<string, Who> = {
  nobody: async () => newAddress(),
  'somebody who waits for a code': async (server) => {
    const email = newAddress()
    await mailAfter(server, email, () => call(server.app, '/signup', { email, password }))
    return email
  },
  'somebody who waits for none': async (server) => (await confirmedPerson(server)).user.email,
}

/** Counts every row that is written or locked from now on, whatever the table is called. */
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

suite('row 11: a wrong code', () => {
  for (const type of ['signup', 'recovery', 'email', 'email_change']) {
    test(`of type ${type} costs the same statements and writes for everybody`, async (t) => {
      const server = await build(t)
      const asked: string[] = []
      for (const make of Object.values(addresses)) asked.push(await make(server))
      await server.app.jobQueue.stop()
      const writes = await countWrites(server)
      const seen = []
      for (const email of asked) {
        // The first guess at an address makes the row that counts them.
        await verify(server.app, { type, email, token: 'x' })
        await writes()
        const statements = await statementsOf(server.app, () =>
          verify(server.app, { type, email, token: 'x' }),
        )
        seen.push({ statements, writes: await writes() })
      }
      assert.equal(seen[0]?.writes, 2, 'the guess and the token')
      for (const work of seen) assert.deepEqual(work, seen[0])
    })
  }

  test('is answered after a pause of random length', async (t) => {
    const { app } = await build(t)
    const drawn = t.mock.method(crypto, 'randomInt', () => 300)
    syncBuiltinESMExports()
    t.after(() => {
      drawn.mock.restore()
      syncBuiltinESMExports()
    })
    const asked = performance.now()
    const answer = await verify(app, { type: 'signup', email: newAddress(), token: 'x' })
    assert.equal(answer.statusCode, 403)
    assert.deepEqual(drawn.mock.calls.at(-1)?.arguments, [11])
    assert.ok(performance.now() - asked > 290)
  })

  test('typed for a number costs the same for everybody', async (t) => {
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
      const statements = await statementsOf(server.app, () => call(server.app, '/verify', body))
      seen.push({ statements, writes: await writes() })
    }
    assert.deepEqual(seen[1], seen[0])
  })
})

suite('row 11: signing up', () => {
  test('takes as many statements with an unproven address and with a taken one as with a new one', async (t) => {
    const server = await build(t, { env: { AUTH_DB_MAX_POOL_SIZE: '1' } })
    const counts: Record<string, number[]> = {}
    // The second time, its one connection has run all of them before, and many go out together.
    for (const _round of [1, 2]) {
      for (const [who, make] of Object.entries(addresses)) {
        const email = await make(server)
        const trips = await tripsOf(server.app, () =>
          call(server.app, '/signup', { email, password }),
        )
        counts[who] = [trips.flat().length, trips.length]
      }
    }
    const { nobody, ...others } = counts
    assert.deepEqual(Object.values(others), [nobody, nobody], JSON.stringify(counts))
  })
})
