/** Requests that wait for the same kind of row share a statement, and nothing else. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises'

import { sql } from 'kysely'

import { shareStatement } from '../../plugins/bearer-auth/shared-statement.ts'
import { autoconfirm, newPerson } from '../support/people.ts'
import { getUser } from '../support/requests.ts'
import { sharedServers } from '../support/shared-servers.ts'
import { statementsOf } from '../support/statements.ts'

interface Statement {
  ids: readonly string[]
  answer(rows: string[]): void
  fail(error: Error): void
}

/** A look-up whose statements are answered by the test. */
function lookUp({ isOfOneRow = () => true }: { isOfOneRow?: () => boolean } = {}) {
  const sent: Statement[] = []
  const find = (ids: readonly string[]) => {
    const { promise, resolve, reject } = Promise.withResolvers<string[]>()
    sent.push({ ids, answer: resolve, fail: reject })
    return promise
  }
  const ask = shareStatement({
    find,
    idOf: (row) => row.slice(0, 1),
    isOfOneRow,
    longestMs: 10_000,
  })
  const idsSent = () => sent.map(({ ids }) => ids.join(''))
  return { ask, sent, idsSent }
}

suite('shared statements', () => {
  test('a request that waits alone is sent at once', async () => {
    const { ask, sent, idsSent } = lookUp()
    const asked = ask('a')
    await turn()
    assert.deepEqual(idsSent(), ['a'])
    sent[0]?.answer(['a1'])
    assert.equal(await asked, 'a1')
  })

  test('while one is on its way, the next collects', async () => {
    const { ask, sent, idsSent } = lookUp()
    const first = [ask('a'), ask('b'), ask('a')]
    await turn()
    const second = [ask('c'), ask('a')]
    await turn()
    assert.deepEqual(idsSent(), ['ab'])
    sent[0]?.answer(['b1', 'a1'])
    assert.deepEqual(await Promise.all(first), ['a1', 'b1', 'a1'])
    await turn()
    // Asked for after the first was sent: answered by a statement of its own, not by what the first found.
    assert.deepEqual(idsSent(), ['ab', 'ca'])
    sent[1]?.answer(['a2'])
    assert.deepEqual(await Promise.all(second), [undefined, 'a2'])
  })

  test('not more than 64 ids in one', async () => {
    const { ask, sent } = lookUp()
    const asked = Array.from({ length: 100 }, (_, i) => ask(String.fromCodePoint(0x4e00 + i)))
    await turn()
    assert.deepEqual(
      sent.map(({ ids }) => ids.length),
      [64],
    )
    sent[0]?.answer([])
    await asked[0]
    await turn()
    assert.equal(sent[1]?.ids.length, 36)
    sent[1]?.answer([])
    await Promise.all(asked)
  })

  test('a slow one does not hold up the next', async () => {
    const { ask, sent, idsSent } = lookUp()
    const slow = ask('a')
    await turn()
    const others = ask('b')
    while (sent.length < 2) await pause(5)
    assert.deepEqual(idsSent(), ['a', 'b'])
    sent[1]?.answer(['b1'])
    assert.equal(await others, 'b1')
    // Its own end begins nothing a second time.
    const [third, fourth] = [ask('c'), ask('d')]
    await turn()
    sent[0]?.answer(['a1'])
    assert.equal(await slow, 'a1')
    await turn()
    assert.deepEqual(idsSent(), ['a', 'b', 'cd'])
    sent[2]?.answer(['c1', 'd1'])
    assert.deepEqual(await Promise.all([third, fourth]), ['c1', 'd1'])
  })

  test('an error of one row is only for those who asked for it', async () => {
    const { ask, sent } = lookUp()
    const asked = Promise.allSettled(['a', 'b', 'a'].map(ask))
    await turn()
    sent[0]?.fail(new Error('out of range'))
    while (sent.length < 3) await turn()
    sent[1]?.fail(new Error('a out of range'))
    sent[2]?.answer(['b1'])
    const [a, b, again] = await asked
    assert.ok(a?.status === 'rejected' && /a out/.test(String(a.reason)))
    assert.ok(again?.status === 'rejected')
    assert.deepEqual(b, { status: 'fulfilled', value: 'b1' })
  })

  test('an error of the database is for all of them, and the next statement goes out', async () => {
    const { ask, sent, idsSent } = lookUp({ isOfOneRow: () => false })
    const asked = Promise.allSettled(['a', 'b'].map(ask))
    await turn()
    const next = ask('c')
    sent[0]?.fail(new Error('Connection terminated'))
    assert.deepEqual(
      (await asked).map(({ status }) => status),
      ['rejected', 'rejected'],
    )
    await turn()
    assert.deepEqual(idsSent(), ['ab', 'c'])
    sent[1]?.answer(['c1'])
    assert.equal(await next, 'c1')
  })
})

suite('look-ups of requests', () => {
  const serverFor = sharedServers()

  test('those that come together are one statement, each with its own person', async () => {
    const { app } = await serverFor(autoconfirm)
    const people = await Promise.all(Array.from({ length: 8 }, () => newPerson(app)))
    // Their tokens are known from then on: checking a signature takes its time.
    await Promise.all(people.map((person) => getUser(app, person)))
    const statements = await statementsOf(app, async () => {
      const answers = await Promise.all(people.map((person) => getUser(app, person)))
      assert.deepEqual(
        answers.map((answer) => answer.json().email),
        people.map(({ email }) => email),
      )
    })
    assert.ok(statements.length < people.length / 2, statements.join('\n'))
  })

  test('a row that cannot be read fails for its own person only', async () => {
    const { app } = await serverFor(autoconfirm)
    const people = await Promise.all(Array.from({ length: 4 }, () => newPerson(app)))
    await app.db
      .updateTable('mfa_amr_claims')
      .set({ updated_at: sql`'infinity'` })
      .where('session_id', 'in', (eb) =>
        eb
          .selectFrom('sessions')
          .select('id')
          .where('user_id', '=', people[2]?.user.id ?? ''),
      )
      .execute()
    const answers = await Promise.all(people.map((person) => getUser(app, person)))
    assert.deepEqual(
      answers.map(({ statusCode }) => statusCode),
      [200, 200, 500, 200],
    )
  })

  test("a session named beside another person's id is not found", async () => {
    const { app } = await serverFor(autoconfirm)
    const [one, other] = [await newPerson(app), await newPerson(app)]
    const { session_id } = await app.jwt.verify(one.access_token)
    const claims = await app.jwt.verify(other.access_token)
    const mixed = await app.jwt.sign({ ...claims, session_id: session_id ?? '' })
    const answer = await getUser(app, { access_token: mixed })
    assert.equal(answer.statusCode, 403)
    assert.equal(answer.json().error_code, 'session_not_found')
  })
})
