/** Attacks on recovery codes: guesses, races, and codes of somebody else. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { asAdmin } from '../support/admin.ts'
import { answer, challenge, claimsOf, wrongCode } from '../support/factors.ts'
import { signedIn } from '../support/people.ts'
import { factorsOn, remaining, url, useCode, withCodes } from '../support/recovery-codes.ts'
import { call, getUser, outcomeOf } from '../support/requests.ts'
import { sharedServers } from '../support/shared-servers.ts'

const failed = [422, 'mfa_verification_failed']
const waits = [429, 'over_request_rate_limit']

suite('attacks on recovery codes', () => {
  const serverFor = sharedServers()

  test('a hundred guesses at once count as a hundred: ten are tried, and the right code waits as well', async (t) => {
    const { app } = await serverFor(factorsOn)
    const { email, low, first } = await withCodes(app)
    const other = await signedIn(app, email)
    // No wait is over while the guesses are made, however slow the machine.
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
    const guesses = Array.from({ length: 100 }, (_, i) => `aaaaa-${String(i).padStart(5, '0')}`)
    const answers = await Promise.all(guesses.map((guess) => useCode(app, low, guess)))
    const codes = answers.map((answer) => String(outcomeOf(answer)))
    assert.equal(codes.filter((code) => code === String(failed)).length, 10)
    assert.equal(codes.filter((code) => code === String(waits)).length, 90)
    assert.deepEqual(outcomeOf(await useCode(app, other, first)), waits)
    assert.equal(await remaining(app, other), 10)

    t.mock.timers.setTime(Date.now() + 301_000)
    assert.equal((await useCode(app, other, first)).statusCode, 200)
  })

  test('right codes are not counted', async () => {
    const { app } = await serverFor(factorsOn)
    const { codes, low } = await withCodes(app)
    let session: { access_token: string } = low
    for (const code of codes) {
      const response = await useCode(app, session, code)
      assert.equal(response.statusCode, 200, response.body)
      session = response.json()
    }
    assert.deepEqual(outcomeOf(await useCode(app, session, 'aaaaa-aaaaa')), failed)
  })

  test('guesses at an authenticator app do not keep out whoever lost theirs', async () => {
    const { app } = await serverFor(factorsOn)
    const { low, factor, first } = await withCodes(app)
    const { id: challenge_id } = await challenge(app, low, factor.id)
    const guess = { challenge_id, code: wrongCode(factor.secret) }
    const answers = []
    for (let i = 0; i < 11; i++) answers.push(await answer(app, low, factor.id, guess))
    assert.equal(answers.at(-1)?.statusCode, 429)
    assert.equal((await useCode(app, low, first)).statusCode, 200)
  })

  test('guesses at one person slow nobody else down', async () => {
    const { app } = await serverFor(factorsOn)
    const [mine, other] = [await withCodes(app), await withCodes(app)]
    await Promise.all(Array.from({ length: 50 }, () => useCode(app, mine.low, 'aaaaa-aaaaa')))
    assert.equal((await useCode(app, other.low, other.first)).statusCode, 200)
  })

  test('of twenty uses of one code at once, one is accepted', async () => {
    const { app } = await serverFor(factorsOn)
    const { low, session, first } = await withCodes(app)
    const answers = await Promise.all(Array.from({ length: 20 }, () => useCode(app, low, first)))
    assert.equal(answers.filter(({ statusCode }) => statusCode === 200).length, 1)
    assert.equal(await remaining(app, session), 9)
  })

  test('a code of somebody else is wrong, and stays theirs', async () => {
    const { app } = await serverFor(factorsOn)
    const [mine, other] = [await withCodes(app), await withCodes(app)]
    assert.deepEqual(outcomeOf(await useCode(app, mine.low, other.first)), failed)
    assert.equal(claimsOf(mine.low).aal, 'aal1')
    assert.equal((await useCode(app, other.low, other.first)).statusCode, 200)
  })

  for (const [what, code] of [
    ['of another length', 'aaaaa-aaaaaa'],
    ['of other letters', 'uuuuu-uuuuu'],
    ['that is the hash of one', undefined],
    ['that is very long', 'a'.repeat(100_000)],
    ['with a wildcard', '%%%%%-%%%%%'],
  ] as const) {
    test(`a code ${what} is wrong, and nothing is raised`, async () => {
      const { app } = await serverFor(factorsOn)
      const { low, session } = await withCodes(app)
      const { code_hash } = await app.db
        .selectFrom('postern_recovery_codes')
        .select('code_hash')
        .where('user_id', '=', session.user.id)
        .executeTakeFirstOrThrow()
      assert.deepEqual(outcomeOf(await useCode(app, low, code ?? code_hash)), failed)
      assert.equal(await remaining(app, session), 10)
      const { aal } = claimsOf(low)
      assert.equal(aal, 'aal1')
    })
  }

  test('somebody banned uses none', async () => {
    const { app } = await serverFor(factorsOn)
    const { low, session, first } = await withCodes(app)
    const { id } = session.user
    await asAdmin(app, 'PUT', `/admin/users/${id}`, { ban_duration: '1h' })
    assert.deepEqual(outcomeOf(await useCode(app, low, first)), [403, 'user_banned'])
    const left = await asAdmin(app, 'GET', `/admin/users/${id}${url}`)
    assert.deepEqual(left.json(), { remaining: 10 })
  })

  test('an ended session is raised by none, and none is spent', async () => {
    const { app } = await serverFor(factorsOn)
    const { low, session, first } = await withCodes(app)
    await call(app, '/logout?scope=local', {}, { token: low.access_token })
    assert.deepEqual(outcomeOf(await useCode(app, low, first)), [403, 'session_not_found'])
    assert.equal((await getUser(app, session)).statusCode, 200)
    assert.equal(await remaining(app, session), 10)
  })

  test('without a token nothing is told', async () => {
    const { app } = await serverFor(factorsOn)
    for (const answer of [
      await call(app, url),
      await call(app, url, {}),
      await call(app, `${url}/verify`, {}),
    ]) {
      assert.deepEqual(outcomeOf(answer), [401, 'no_authorization'])
    }
  })
})
