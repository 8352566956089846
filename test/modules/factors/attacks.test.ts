/** Attacks on factors: each is rejected and does not change the session. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../../schemas/session.ts'
import { asAdmin } from '../../support/admin.ts'
import {
  addTotp,
  challenge,
  everyFactor,
  send,
  stepUp,
  userWithTotp,
  verifyChallenge,
  wrongCode,
} from '../../support/factors/factors.ts'
import { serversOnOneDatabase } from '../../support/processes/shared-servers.ts'
import { refresh, statusAndCode } from '../../support/requests.ts'
import type { App } from '../../support/server.ts'
import { signedIn, signUpUser } from '../../support/users.ts'

const consumed = [422, 'mfa_ip_address_mismatch']
const failed = [422, 'mfa_verification_failed']
const unknownChallenge = [422, 'mfa_factor_not_found']
const unknownFactor = [404, 'mfa_factor_not_found']

suite('factor attacks', () => {
  const serverFor = serversOnOneDatabase()

  test('rejects a second response to a challenge', async () => {
    const { app } = await serverFor(everyFactor)
    const { session, factor } = await userWithTotp(app)
    const { id: challenge_id } = await challenge(app, session, factor.id)
    const body = { challenge_id, code: factor.code(1) }
    const steppedUp = await verifyChallenge(app, session, factor.id, body)
    assert.equal(steppedUp.statusCode, 200, steppedUp.body)
    const again = { ...body, code: factor.code(2) }
    assert.deepEqual(
      statusAndCode(await verifyChallenge(app, steppedUp.json(), factor.id, again)),
      consumed,
    )
  })

  test('rejects a used code with another challenge', async () => {
    const { app } = await serverFor(everyFactor)
    const { session, factor } = await userWithTotp(app)
    for (const away of [0, -1]) {
      const { id: challenge_id } = await challenge(app, session, factor.id)
      const response = await verifyChallenge(app, session, factor.id, {
        challenge_id,
        code: factor.code(away),
      })
      assert.deepEqual(statusAndCode(response), failed, `${away}`)
    }
    await stepUp(app, session, factor, 1)
  })

  test('accepts one of ten racing responses with one code', async () => {
    const { app } = await serverFor(everyFactor)
    const { session, factor } = await userWithTotp(app)
    const requested = await Promise.all(
      Array.from({ length: 10 }, () => challenge(app, session, factor.id)),
    )
    const code = factor.code(1)
    const responses = await Promise.all(
      requested.map(({ id }) =>
        verifyChallenge(app, session, factor.id, { challenge_id: id, code }),
      ),
    )
    const accepted = responses.filter(({ statusCode }) => statusCode === 200)
    assert.equal(accepted.length, 1)
  })

  test('accepts one of ten racing responses to one challenge', async () => {
    const { app } = await serverFor(everyFactor)
    const { session, factor } = await userWithTotp(app)
    const { id: challenge_id } = await challenge(app, session, factor.id)
    const body = { challenge_id, code: factor.code(1) }
    const responses = await Promise.all(
      Array.from({ length: 10 }, () => verifyChallenge(app, session, factor.id, body)),
    )
    assert.equal(responses.filter(({ statusCode }) => statusCode === 200).length, 1)
  })

  test('verifies ten of a hundred racing attempts and throttles the rest', async (t) => {
    const { app } = await serverFor(everyFactor)
    const { session, factor } = await userWithTotp(app)
    const { id: challenge_id } = await challenge(app, session, factor.id)
    const body = { challenge_id, code: wrongCode(factor.secret) }
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
    const attempts = await Promise.all(
      Array.from({ length: 100 }, () => verifyChallenge(app, session, factor.id, body)),
    )
    assert.equal(attempts.filter(({ statusCode }) => statusCode === 422).length, 10)
    assert.equal(attempts.filter(({ statusCode }) => statusCode === 429).length, 90)
    const next = await verifyChallenge(app, session, factor.id, body)
    assert.deepEqual(statusAndCode(next), [429, 'over_request_rate_limit'])
    assert.ok(Number(next.headers['retry-after']) > 0)
  })

  test('rejects a challenge of another factor of the user', async () => {
    const { app } = await serverFor(everyFactor)
    const { session, factor } = await userWithTotp(app)
    const other = await addTotp(app, session, 'second')
    const { id: challenge_id } = await challenge(app, session, factor.id)
    const response = await verifyChallenge(app, session, other.id, {
      challenge_id,
      code: other.code(),
    })
    assert.deepEqual(statusAndCode(response), unknownChallenge)
  })

  test('rejects a challenge and a factor of another user', async () => {
    const { app } = await serverFor(everyFactor)
    const [mine, theirs] = [await userWithTotp(app), await userWithTotp(app)]
    const { id: challenge_id } = await challenge(app, theirs.session, theirs.factor.id)
    const stolen = { challenge_id, code: mine.factor.code(1) }
    const other = await verifyChallenge(app, mine.session, mine.factor.id, stolen)
    assert.deepEqual(statusAndCode(other), unknownChallenge)
    const foreign = await verifyChallenge(app, mine.session, theirs.factor.id, stolen)
    assert.deepEqual(statusAndCode(foreign), unknownFactor)
    const pending = await send(app, 'POST', `/factors/${theirs.factor.id}/challenge`, mine.session)
    assert.deepEqual(statusAndCode(pending), unknownFactor)
    const removed = await send(app, 'DELETE', `/factors/${theirs.factor.id}`, mine.session)
    assert.deepEqual(statusAndCode(removed), unknownFactor)
  })

  test('rejects a challenge of another session of the user', async () => {
    const { app } = await serverFor(everyFactor)
    const { email, session, factor } = await userWithTotp(app)
    const second = await signedIn(app, email)
    const { id: challenge_id } = await challenge(app, session, factor.id)
    const body = { challenge_id, code: factor.code(1) }
    assert.deepEqual(
      statusAndCode(await verifyChallenge(app, second, factor.id, body)),
      unknownChallenge,
    )
  })

  test('rejects a challenge created from another IP address', async () => {
    const { app } = await serverFor(everyFactor)
    const { session, factor } = await userWithTotp(app)
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
    assert.deepEqual(statusAndCode(response), consumed)
  })

  test('rejects an expired challenge', async (t) => {
    const { app } = await serverFor(everyFactor)
    const { session, factor } = await userWithTotp(app)
    const { id: challenge_id } = await challenge(app, session, factor.id)
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 301_000 })
    const body = { challenge_id, code: factor.code() }
    const late = await verifyChallenge(app, session, factor.id, body)
    assert.deepEqual(statusAndCode(late), [422, 'mfa_challenge_expired'])
    assert.deepEqual(
      statusAndCode(await verifyChallenge(app, session, factor.id, body)),
      unknownChallenge,
    )
  })

  test('AUTH_MFA_CHALLENGE_EXPIRY_DURATION limits the lifetime of a challenge', async (t) => {
    const env = { ...everyFactor, AUTH_MFA_CHALLENGE_EXPIRY_DURATION: '10m' }
    const { app } = await serverFor(env)
    const { session, factor } = await userWithTotp(app)
    const start = Date.now()
    const pending = await challenge(app, session, factor.id)
    t.mock.timers.enable({ apis: ['Date'], now: start + 590_000 })
    const body = { challenge_id: pending.id, code: factor.code() }
    const steppedUp = await verifyChallenge(app, session, factor.id, body)
    assert.equal(steppedUp.statusCode, 200, steppedUp.body)
    const { id: challenge_id } = await challenge(app, steppedUp.json(), factor.id)
    t.mock.timers.setTime(start + 1_200_000)
    const late = { challenge_id, code: factor.code() }
    const outcome = statusAndCode(await verifyChallenge(app, steppedUp.json(), factor.id, late))
    assert.deepEqual(outcome, [422, 'mfa_challenge_expired'])
  })

  test('rejects completing an enrollment in another session', async () => {
    const { app } = await serverFor(everyFactor)
    const begun = await signUpUser(app)
    const factor = await addTotp(app, begun)
    const other = await signedIn(app, begun.email)
    const pending = await send(app, 'POST', `/factors/${factor.id}/challenge`, other)
    assert.deepEqual(statusAndCode(pending), unknownFactor)
    assert.equal((await send(app, 'POST', '/logout?scope=local', begun)).statusCode, 204)
    const later = await send(app, 'POST', `/factors/${factor.id}/challenge`, other)
    assert.deepEqual(statusAndCode(later), unknownFactor)
  })

  test('changes nothing before the factor is verified', async () => {
    const { app } = await serverFor(everyFactor)
    const { email, factor, session } = await userWithTotp(app)
    const second = await signedIn(app, email)
    const before = await findRows(app, session)
    const { id: challenge_id } = await challenge(app, second, factor.id)
    await verifyChallenge(app, second, factor.id, { challenge_id, code: wrongCode(factor.secret) })
    assert.deepEqual(await findRows(app, session), before)
  })

  test('rejects banned and deleted users', async () => {
    const { app } = await serverFor(everyFactor)
    const { session, factor } = await userWithTotp(app)
    const { id: challenge_id } = await challenge(app, session, factor.id)
    const body = { challenge_id, code: factor.code(1) }
    const url = `/admin/users/${session.user.id}`
    await asAdmin(app, 'PUT', url, { ban_duration: '1h' })
    const banned = await verifyChallenge(app, session, factor.id, body)
    assert.equal(banned.statusCode, 403, banned.body)
    await asAdmin(app, 'DELETE', url, { should_soft_delete: true })
    const deleted = await verifyChallenge(app, session, factor.id, body)
    assert.equal(deleted.statusCode, 403, deleted.body)
    const { rows } = await app.pool.query('select id from auth.mfa_factors where user_id = $1', [
      session.user.id,
    ])
    assert.deepEqual(rows, [])
  })

  const strict = {
    'AUTH_SECURITY_REFRESH_TOKEN_REUSE_UNTIL_USED, after the interval': {
      AUTH_SECURITY_REFRESH_TOKEN_REUSE_UNTIL_USED: 'true',
      AUTH_SECURITY_REFRESH_TOKEN_REUSE_INTERVAL: '0',
    },
    'rotation disabled': { AUTH_SECURITY_REFRESH_TOKEN_ROTATION_ENABLED: 'false' },
  }
  for (const [name, env] of Object.entries(strict)) {
    test(`rejects the refresh token from before the step-up with ${name}`, async () => {
      const { app } = await serverFor({ ...everyFactor, ...env })
      const { before } = await userWithTotp(app)
      await new Promise((resolve) => setTimeout(resolve, 5))
      assert.deepEqual(statusAndCode(await refresh(app, before.refresh_token)), [
        400,
        'refresh_token_already_used',
      ])
    })
  }

  test('treats a token older than the one before the step-up as reuse within the interval', async () => {
    const { app } = await serverFor(everyFactor)
    const user = await signUpUser(app)
    const next: Session = (await refresh(app, user.refresh_token)).json()
    await stepUp(app, next, await addTotp(app, next))
    assert.deepEqual(statusAndCode(await refresh(app, user.refresh_token)), [
      400,
      'refresh_token_already_used',
    ])
  })

  test('treats a token two rotations old as reuse despite the step-up', async () => {
    const { app } = await serverFor(everyFactor)
    const { session } = await userWithTotp(app)
    const second: Session = (await refresh(app, session.refresh_token)).json()
    await new Promise((resolve) => setTimeout(resolve, 5))
    assert.equal((await refresh(app, second.refresh_token)).statusCode, 200)
    assert.deepEqual(statusAndCode(await refresh(app, session.refresh_token)), [
      400,
      'refresh_token_already_used',
    ])
  })
})

async function findRows(app: App, { user }: Session) {
  const { rows } = await app.pool.query(
    `select id, aal, factor_id, refresh_token_counter from auth.sessions where user_id = $1 order by id`,
    [user.id],
  )
  return rows
}
