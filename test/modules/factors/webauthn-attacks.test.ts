/** Forged security key responses: each is rejected and changes nothing. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Forgery } from '../../support/factors/authenticator.ts'
import { challenge, everyFactor, verifyChallenge } from '../../support/factors/factors.ts'
import {
  browserOptions,
  enrolKey,
  finish,
  give,
  userWithSecurityKey,
} from '../../support/factors/key-journeys.ts'
import { newSecurityKey } from '../../support/factors/security-key.ts'
import { lockUserRow } from '../../support/locked-user.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { statusAndCode } from '../../support/requests.ts'
import { signUpUser } from '../../support/users.ts'

const failed = [422, 'mfa_verification_failed']
const malformed = [400, 'validation_failed']

suite('forged security key response', () => {
  const serverFor = sharedServers()
  const otherKey = newSecurityKey()

  const forgeries: [name: string, deceit: Forgery, expected?: unknown[]][] = [
    ['another origin', { origin: 'https://app.example.evil.example' }],
    ['the origin without TLS', { origin: 'http://app.example' }],
    ['another RP id', { rpId: 'evil.example' }],
    ['another challenge', { challenge: Buffer.alloc(32).toString('base64url') }],
    ['the type of another ceremony', { type: 'webauthn.payment' }],
    ['no user presence', { flags: 0 }],
  ]
  for (const [name, forgery, expected = failed] of forgeries) {
    test(`rejects a response with ${name} at enrollment and verification`, async () => {
      const { app } = await serverFor(everyFactor)
      const user = await signUpUser(app)
      const { id } = await enrolKey(app, user)
      const create = await challenge(app, user, id)
      const flags = forgery.flags === undefined ? {} : { flags: 0x40 }
      const forged = newSecurityKey().create(browserOptions(create), { ...forgery, ...flags })
      assert.deepEqual(statusAndCode(await give(app, user, id, create.id, forged)), expected)

      const { session, key, id: factorId } = await userWithSecurityKey(app)
      const request = await challenge(app, session, factorId)
      const forged2 = key.get(browserOptions(request), forgery)
      assert.deepEqual(
        statusAndCode(await give(app, session, factorId, request.id, forged2)),
        expected,
      )
      const honest = key.get(browserOptions(request))
      await finish(app, session, factorId, request.id, honest)
    })
  }

  const forgedResponses: [name: string, deceit: Forgery][] = [
    ['a signature by another key', { privateKey: otherKey.privateKey }],
    ['an unknown credential', { id: otherKey.id }],
    [
      'a user handle of another user',
      { userHandle: Buffer.from(crypto.randomUUID()).toString('base64url') },
    ],
    ['a changed backup state', { flags: 0x09 }],
  ]
  for (const [name, forgery] of forgedResponses) {
    test(`rejects a response with ${name}`, async () => {
      const { app } = await serverFor(everyFactor)
      const { session, key, id } = await userWithSecurityKey(app)
      const pending = await challenge(app, session, id)
      const forged = key.get(browserOptions(pending), forgery)
      assert.deepEqual(statusAndCode(await give(app, session, id, pending.id, forged)), failed)
    })
  }

  test('rejects an attestation instead of an assertion, for any type in the body', async () => {
    const { app } = await serverFor(everyFactor)
    const { session, id } = await userWithSecurityKey(app)
    const pending = await challenge(app, session, id)
    const attestation = newSecurityKey().create(browserOptions(pending))
    for (const type of ['create', 'request']) {
      const webauthn = { type, credential_response: attestation }
      const response = await verifyChallenge(app, session, id, {
        challenge_id: pending.id,
        webauthn,
      })
      assert.deepEqual(statusAndCode(response), malformed)
    }
  })

  test('rejects an assertion instead of an attestation', async () => {
    const { app } = await serverFor(everyFactor)
    const { session, key } = await userWithSecurityKey(app)
    const { id } = await enrolKey(app, session, 'second')
    const pending = await challenge(app, session, id)
    const response = await give(app, session, id, pending.id, key.get(browserOptions(pending)))
    assert.deepEqual(statusAndCode(response), malformed)
  })

  test('rejects the security key of another user', async () => {
    const { app } = await serverFor(everyFactor)
    const [mine, theirs] = [await userWithSecurityKey(app), await userWithSecurityKey(app)]
    const pending = await challenge(app, mine.session, mine.id)
    const given = theirs.key.get(browserOptions(pending))
    assert.deepEqual(
      statusAndCode(await give(app, mine.session, mine.id, pending.id, given)),
      failed,
    )
  })

  test('rejects a counter that does not increase, logs it and notifies the user', async () => {
    const env = {
      ...everyFactor,
      AUTH_MAILER_NOTIFICATIONS_SECURITY_KEY_REFUSED_ENABLED: 'true',
    }
    const { app, mail } = await serverFor(env)
    const { session, key, id, email } = await userWithSecurityKey(app)
    const pending = await challenge(app, session, id)
    const copied = key.get(browserOptions(pending), { counter: 1 })
    await finish(app, session, id, pending.id, copied)
    const next = await challenge(app, session, id)
    const late = key.get(browserOptions(next), { counter: 1 })
    assert.deepEqual(statusAndCode(await give(app, session, id, next.id, late)), failed)
    const none = key.get(browserOptions(next), { counter: 0 })
    assert.deepEqual(statusAndCode(await give(app, session, id, next.id, none)), failed)

    const reported = await mail.waitFor((message) => message.to === email)
    assert.equal(reported.mail.subject, 'A security key of your account was rejected')
    const { rows } = await app.pool.query(
      `select payload from auth.audit_log_entries where payload->>'action' = 'factor_refused'`,
    )
    assert.equal(rows[0]?.payload.traits.factor_id, id)
    const honest = key.get(browserOptions(next), { counter: 5 })
    await finish(app, session, id, next.id, honest)
  })

  test('rejects one of two racing responses with the same counter', async () => {
    const { app } = await serverFor(everyFactor)
    const { session, key, id } = await userWithSecurityKey(app)
    const requested = [await challenge(app, session, id), await challenge(app, session, id)]
    const lock = await lockUserRow(app, session.user.id)
    const responses = requested.map((one, place) =>
      lock.queue(place + 1, () =>
        give(app, session, id, one.id, key.get(browserOptions(one), { counter: 1 })),
      ),
    )
    const queued = await Promise.all(responses)
    await lock.release()
    const outcomes = await Promise.all(
      queued.map(async ({ response }) => statusAndCode(await response)),
    )
    assert.deepEqual(outcomes.toSorted(), [[200, ''], failed])
    const { rows } = await app.pool.query(
      'select web_authn_credential from auth.mfa_factors where id = $1',
      [id],
    )
    const { signCount, cloneWarning } = rows[0].web_authn_credential.authenticator
    assert.deepEqual([signCount, cloneWarning], [1, true])
    const next = await challenge(app, session, id)
    await finish(app, session, id, next.id, key.get(browserOptions(next), { counter: 5 }))
  })

  const incomplete = {
    'no response': {},
    'an empty response': { webauthn: {} },
    'null as credential': { webauthn: { credential_response: null } },
    'a response of another type': { code: '123456' },
    'not a credential': { webauthn: { credential_response: { id: 'x' } } },
  }
  for (const [name, body] of Object.entries(incomplete)) {
    test(`returns 400 for a response with ${name}`, async () => {
      const { app } = await serverFor(everyFactor)
      const { session, id } = await userWithSecurityKey(app)
      const { id: challenge_id } = await challenge(app, session, id)
      const response = await verifyChallenge(app, session, id, { challenge_id, ...body })
      assert.deepEqual(statusAndCode(response), malformed)
    })
  }
})
