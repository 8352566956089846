/** Security keys that lie: each answer is refused, and nothing is changed by it. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Deceit } from '../support/authenticator.ts'
import { answer, challenge, everyFactor } from '../support/factors.ts'
import { holdPerson } from '../support/held-person.ts'
import { enrolKey, finish, give, optionsOf, withKey } from '../support/key-journeys.ts'
import { newPerson } from '../support/people.ts'
import { outcomeOf } from '../support/requests.ts'
import { newSecurityKey } from '../support/security-key.ts'
import { sharedServers } from '../support/shared-servers.ts'

const failed = [422, 'mfa_verification_failed']
const malformed = [400, 'validation_failed']

suite('a security key that lies', () => {
  const serverFor = sharedServers()
  const otherKey = newSecurityKey()

  const lies: [name: string, deceit: Deceit, expected?: unknown[]][] = [
    ['another origin', { origin: 'https://app.example.evil.example' }],
    ['the origin without encryption', { origin: 'http://app.example' }],
    ['another RP id', { rpId: 'evil.example' }],
    ['another challenge', { challenge: Buffer.alloc(32).toString('base64url') }],
    ['the other ceremony in the signed data', { type: 'webauthn.payment' }],
    ['nobody present', { flags: 0 }],
  ]
  for (const [name, deceit, expected = failed] of lies) {
    test(`${name} is refused at enrolment and at sign-in`, async () => {
      const { app } = await serverFor(everyFactor)
      const person = await newPerson(app)
      const { id } = await enrolKey(app, person)
      const create = await challenge(app, person, id)
      const flags = deceit.flags === undefined ? {} : { flags: 0x40 }
      const lie = newSecurityKey().create(optionsOf(create), { ...deceit, ...flags })
      assert.deepEqual(outcomeOf(await give(app, person, id, create.id, lie)), expected)

      const { session, key, id: factorId } = await withKey(app)
      const request = await challenge(app, session, factorId)
      const lie2 = key.get(optionsOf(request), deceit)
      assert.deepEqual(outcomeOf(await give(app, session, factorId, request.id, lie2)), expected)
      const honest = key.get(optionsOf(request))
      await finish(app, session, factorId, request.id, honest)
    })
  }

  const falseAnswers: [name: string, deceit: Deceit][] = [
    ['signed by another key', { privateKey: otherKey.privateKey }],
    ['an unknown credential', { id: otherKey.id }],
    [
      'made for another person',
      { userHandle: Buffer.from(crypto.randomUUID()).toString('base64url') },
    ],
    ['a key that says it is kept elsewhere now', { flags: 0x09 }],
  ]
  for (const [name, deceit] of falseAnswers) {
    test(`${name}: refused`, async () => {
      const { app } = await serverFor(everyFactor)
      const { session, key, id } = await withKey(app)
      const asked = await challenge(app, session, id)
      const lie = key.get(optionsOf(asked), deceit)
      assert.deepEqual(outcomeOf(await give(app, session, id, asked.id, lie)), failed)
    })
  }

  test('a new key pair offered where a signature was asked for is refused, whatever the body says', async () => {
    const { app } = await serverFor(everyFactor)
    const { session, id } = await withKey(app)
    const asked = await challenge(app, session, id)
    const attestation = newSecurityKey().create(optionsOf(asked))
    for (const type of ['create', 'request']) {
      const webauthn = { type, credential_response: attestation }
      const response = await answer(app, session, id, { challenge_id: asked.id, webauthn })
      assert.deepEqual(outcomeOf(response), malformed)
    }
  })

  test('a signature offered where a new key pair was asked for is refused', async () => {
    const { app } = await serverFor(everyFactor)
    const { session, key } = await withKey(app)
    const { id } = await enrolKey(app, session, 'second')
    const asked = await challenge(app, session, id)
    const response = await give(app, session, id, asked.id, key.get(optionsOf(asked)))
    assert.deepEqual(outcomeOf(response), malformed)
  })

  test('the key of somebody else is refused', async () => {
    const { app } = await serverFor(everyFactor)
    const [mine, theirs] = [await withKey(app), await withKey(app)]
    const asked = await challenge(app, mine.session, mine.id)
    const given = theirs.key.get(optionsOf(asked))
    assert.deepEqual(outcomeOf(await give(app, mine.session, mine.id, asked.id, given)), failed)
  })

  test('a counter that does not rise is a copy: refused, written down and told', async () => {
    const env = {
      ...everyFactor,
      AUTH_MAILER_NOTIFICATIONS_SECURITY_KEY_REFUSED_ENABLED: 'true',
    }
    const { app, mail } = await serverFor(env)
    const { session, key, id, email } = await withKey(app)
    const asked = await challenge(app, session, id)
    const copied = key.get(optionsOf(asked), { counter: 1 })
    await finish(app, session, id, asked.id, copied)
    const next = await challenge(app, session, id)
    const late = key.get(optionsOf(next), { counter: 1 })
    assert.deepEqual(outcomeOf(await give(app, session, id, next.id, late)), failed)
    const none = key.get(optionsOf(next), { counter: 0 })
    assert.deepEqual(outcomeOf(await give(app, session, id, next.id, none)), failed)

    const told = await mail.waitFor((message) => message.to === email)
    assert.equal(told.mail.subject, 'A security key of your account was refused')
    const { rows } = await app.pool.query(
      `select payload from auth.audit_log_entries where payload->>'action' = 'factor_refused'`,
    )
    assert.equal(rows[0]?.payload.traits.factor_id, id)
    const honest = key.get(optionsOf(next), { counter: 5 })
    await finish(app, session, id, next.id, honest)
  })

  test('of two answers with one counter, given at once, one is a copy', async () => {
    const { app } = await serverFor(everyFactor)
    const { session, key, id } = await withKey(app)
    const asked = [await challenge(app, session, id), await challenge(app, session, id)]
    const held = await holdPerson(app, session.user.id)
    const answers = asked.map((one, place) =>
      held.queue(place + 1, () =>
        give(app, session, id, one.id, key.get(optionsOf(one), { counter: 1 })),
      ),
    )
    const queued = await Promise.all(answers)
    await held.release()
    const outcomes = await Promise.all(queued.map(async ({ answer }) => outcomeOf(await answer)))
    assert.deepEqual(outcomes.toSorted(), [[200, ''], failed])
    const { rows } = await app.pool.query(
      'select web_authn_credential from auth.mfa_factors where id = $1',
      [id],
    )
    const { signCount, cloneWarning } = rows[0].web_authn_credential.authenticator
    assert.deepEqual([signCount, cloneWarning], [1, true])
    const next = await challenge(app, session, id)
    await finish(app, session, id, next.id, key.get(optionsOf(next), { counter: 5 }))
  })

  const incomplete = {
    'no answer': {},
    'an empty answer': { webauthn: {} },
    'null for the credential': { webauthn: { credential_response: null } },
    'an answer of another kind': { code: '123456' },
    'not a credential': { webauthn: { credential_response: { id: 'x' } } },
  }
  for (const [name, body] of Object.entries(incomplete)) {
    test(`${name}: 400`, async () => {
      const { app } = await serverFor(everyFactor)
      const { session, id } = await withKey(app)
      const { id: challenge_id } = await challenge(app, session, id)
      const response = await answer(app, session, id, { challenge_id, ...body })
      assert.deepEqual(outcomeOf(response), malformed)
    })
  }
})
