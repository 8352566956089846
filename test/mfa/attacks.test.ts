/** Attacks on second factors. Each is refused, and the session stays as it was. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../schemas/session.ts'
import { asAdmin } from '../support/admin.ts'
import {
  addTotp,
  answer,
  challenge,
  claimsOf,
  everyFactor,
  guarded,
  prove,
  send,
  wrongCode,
} from '../support/factors.ts'
import { newPerson, signedIn } from '../support/people.ts'
import { outcomeOf, refresh } from '../support/requests.ts'
import type { App } from '../support/server.ts'
import { sharedServers } from '../support/shared-servers.ts'

const spent = [422, 'mfa_ip_address_mismatch']
const failed = [422, 'mfa_verification_failed']
const unknownChallenge = [422, 'mfa_factor_not_found']
const unknownFactor = [404, 'mfa_factor_not_found']

suite('attacks on second factors', () => {
  const serverFor = sharedServers()

  test('a challenge is answered once', async () => {
    const { app } = await serverFor(everyFactor)
    const { session, factor } = await guarded(app)
    const { id: challenge_id } = await challenge(app, session, factor.id)
    const body = { challenge_id, code: factor.code(1) }
    const raised = await answer(app, session, factor.id, body)
    assert.equal(raised.statusCode, 200, raised.body)
    const again = { ...body, code: factor.code(2) }
    assert.deepEqual(outcomeOf(await answer(app, raised.json(), factor.id, again)), spent)
  })

  test('a code is accepted once, under whatever challenge', async () => {
    const { app } = await serverFor(everyFactor)
    const { session, factor } = await guarded(app)
    for (const away of [0, -1]) {
      const { id: challenge_id } = await challenge(app, session, factor.id)
      const response = await answer(app, session, factor.id, {
        challenge_id,
        code: factor.code(away),
      })
      assert.deepEqual(outcomeOf(response), failed, `${away}`)
    }
    await prove(app, session, factor, 1)
  })

  test('of ten parallel answers with one code, one is accepted', async () => {
    const { app } = await serverFor(everyFactor)
    const { session, factor } = await guarded(app)
    const asked = await Promise.all(
      Array.from({ length: 10 }, () => challenge(app, session, factor.id)),
    )
    const code = factor.code(1)
    const answers = await Promise.all(
      asked.map(({ id }) => answer(app, session, factor.id, { challenge_id: id, code })),
    )
    const accepted = answers.filter(({ statusCode }) => statusCode === 200)
    assert.equal(accepted.length, 1)
  })

  test('of ten parallel answers to one challenge, one is accepted', async () => {
    const { app } = await serverFor(everyFactor)
    const { session, factor } = await guarded(app)
    const { id: challenge_id } = await challenge(app, session, factor.id)
    const body = { challenge_id, code: factor.code(1) }
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => answer(app, session, factor.id, body)),
    )
    assert.equal(answers.filter(({ statusCode }) => statusCode === 200).length, 1)
  })

  test('of a hundred parallel guesses ten are tried, and the next one has to wait', async (t) => {
    const { app } = await serverFor(everyFactor)
    const { session, factor } = await guarded(app)
    const { id: challenge_id } = await challenge(app, session, factor.id)
    const body = { challenge_id, code: wrongCode(factor.secret) }
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
    const guesses = await Promise.all(
      Array.from({ length: 100 }, () => answer(app, session, factor.id, body)),
    )
    assert.equal(guesses.filter(({ statusCode }) => statusCode === 422).length, 10)
    assert.equal(guesses.filter(({ statusCode }) => statusCode === 429).length, 90)
    const next = await answer(app, session, factor.id, body)
    assert.deepEqual(outcomeOf(next), [429, 'over_request_rate_limit'])
    assert.ok(Number(next.headers['retry-after']) > 0)
  })

  test('a challenge of another factor of the person', async () => {
    const { app } = await serverFor(everyFactor)
    const { session, factor } = await guarded(app)
    const other = await addTotp(app, session, 'second')
    const { id: challenge_id } = await challenge(app, session, factor.id)
    const response = await answer(app, session, other.id, { challenge_id, code: other.code() })
    assert.deepEqual(outcomeOf(response), unknownChallenge)
  })

  test('a challenge of another person, and their factor', async () => {
    const { app } = await serverFor(everyFactor)
    const [mine, theirs] = [await guarded(app), await guarded(app)]
    const { id: challenge_id } = await challenge(app, theirs.session, theirs.factor.id)
    const stolen = { challenge_id, code: mine.factor.code(1) }
    const other = await answer(app, mine.session, mine.factor.id, stolen)
    assert.deepEqual(outcomeOf(other), unknownChallenge)
    const foreign = await answer(app, mine.session, theirs.factor.id, stolen)
    assert.deepEqual(outcomeOf(foreign), unknownFactor)
    const asked = await send(app, 'POST', `/factors/${theirs.factor.id}/challenge`, mine.session)
    assert.deepEqual(outcomeOf(asked), unknownFactor)
    const removed = await send(app, 'DELETE', `/factors/${theirs.factor.id}`, mine.session)
    assert.deepEqual(outcomeOf(removed), unknownFactor)
  })

  test('a challenge of another session of the person', async () => {
    const { app } = await serverFor(everyFactor)
    const { email, session, factor } = await guarded(app)
    const second = await signedIn(app, email)
    const { id: challenge_id } = await challenge(app, session, factor.id)
    const body = { challenge_id, code: factor.code(1) }
    assert.deepEqual(outcomeOf(await answer(app, second, factor.id, body)), unknownChallenge)
  })

  test('a challenge that was made for another address', async () => {
    const { app } = await serverFor(everyFactor)
    const { session, factor } = await guarded(app)
    const { id: challenge_id } = await challenge(app, session, factor.id)
    const response = await app.inject({
      method: 'POST',
      url: `/factors/${factor.id}/verify`,
      headers: {
        authorization: `Bearer ${session.access_token}`,
        'x-forwarded-for': '203.0.113.9',
      },
      payload: { challenge_id, code: factor.code(1) },
    })
    assert.deepEqual(outcomeOf(response), spent)
  })

  test('a challenge that has expired', async (t) => {
    const { app } = await serverFor(everyFactor)
    const { session, factor } = await guarded(app)
    const { id: challenge_id } = await challenge(app, session, factor.id)
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 301_000 })
    const body = { challenge_id, code: factor.code() }
    const late = await answer(app, session, factor.id, body)
    assert.deepEqual(outcomeOf(late), [422, 'mfa_challenge_expired'])
    assert.deepEqual(outcomeOf(await answer(app, session, factor.id, body)), unknownChallenge)
  })

  test('AUTH_MFA_CHALLENGE_EXPIRY_DURATION is how long a challenge can be answered', async (t) => {
    const env = { ...everyFactor, AUTH_MFA_CHALLENGE_EXPIRY_DURATION: '10m' }
    const { app } = await serverFor(env)
    const { session, factor } = await guarded(app)
    const start = Date.now()
    const asked = await challenge(app, session, factor.id)
    t.mock.timers.enable({ apis: ['Date'], now: start + 590_000 })
    const body = { challenge_id: asked.id, code: factor.code() }
    const raised = await answer(app, session, factor.id, body)
    assert.equal(raised.statusCode, 200, raised.body)
    const { id: challenge_id } = await challenge(app, raised.json(), factor.id)
    t.mock.timers.setTime(start + 1_200_000)
    const late = { challenge_id, code: factor.code() }
    const outcome = outcomeOf(await answer(app, raised.json(), factor.id, late))
    assert.deepEqual(outcome, [422, 'mfa_challenge_expired'])
  })

  test('an enrolment is finished by the session that began it alone', async () => {
    const { app } = await serverFor(everyFactor)
    const begun = await newPerson(app)
    const factor = await addTotp(app, begun)
    const other = await signedIn(app, begun.email)
    const asked = await send(app, 'POST', `/factors/${factor.id}/challenge`, other)
    assert.deepEqual(outcomeOf(asked), unknownFactor)
    assert.equal((await send(app, 'POST', '/logout?scope=local', begun)).statusCode, 204)
    const later = await send(app, 'POST', `/factors/${factor.id}/challenge`, other)
    assert.deepEqual(outcomeOf(later), unknownFactor)
  })

  test('nothing changes before the factor is proven', async () => {
    const { app } = await serverFor(everyFactor)
    const { email, factor, session } = await guarded(app)
    const second = await signedIn(app, email)
    const before = await rowsOf(app, session)
    const { id: challenge_id } = await challenge(app, second, factor.id)
    await answer(app, second, factor.id, { challenge_id, code: wrongCode(factor.secret) })
    assert.deepEqual(await rowsOf(app, session), before)
  })

  test('somebody banned or deleted proves nothing', async () => {
    const { app } = await serverFor(everyFactor)
    const { session, factor } = await guarded(app)
    const { id: challenge_id } = await challenge(app, session, factor.id)
    const body = { challenge_id, code: factor.code(1) }
    const url = `/admin/users/${session.user.id}`
    await asAdmin(app, 'PUT', url, { ban_duration: '1h' })
    const banned = await answer(app, session, factor.id, body)
    assert.equal(banned.statusCode, 403, banned.body)
    await asAdmin(app, 'DELETE', url, { should_soft_delete: true })
    const deleted = await answer(app, session, factor.id, body)
    assert.equal(deleted.statusCode, 403, deleted.body)
    const { rows } = await app.pool.query('select id from auth.mfa_factors where user_id = $1', [
      session.user.id,
    ])
    assert.deepEqual(rows, [])
  })

  test('the refresh token from before, of any age, opens nothing', async () => {
    const { app } = await serverFor({
      ...everyFactor,
      AUTH_SECURITY_REFRESH_TOKEN_REUSE_INTERVAL: '1h',
    })
    const { before, session } = await guarded(app)
    assert.deepEqual(outcomeOf(await refresh(app, before.refresh_token)), [
      400,
      'refresh_token_already_used',
    ])
    assert.equal(claimsOf(session).aal, 'aal2')
  })
})

async function rowsOf(app: App, { user }: Session) {
  const { rows } = await app.pool.query(
    `select id, aal, factor_id, refresh_token_counter from auth.sessions where user_id = $1 order by id`,
    [user.id],
  )
  return rows
}
