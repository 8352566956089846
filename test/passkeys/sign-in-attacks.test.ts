/** Attacks on signing in with a passkey: each is refused, most of them alike, and a challenge is good for one try. */
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { suite, test } from 'node:test'

import type { Authenticator, Deceit } from '../support/authenticator.ts'
import {
  askForSignIn,
  finishRegistration,
  finishSignIn,
  newDevice,
  origin,
  passkeysOf,
  passkeysOn,
  signInBy,
  withPasskey,
} from '../support/passkeys.ts'
import { newPerson } from '../support/people.ts'
import { outcomeOf } from '../support/requests.ts'
import { sharedServers } from '../support/shared-servers.ts'

const refused = [400, 'webauthn_verification_failed']
const notFound = [400, 'webauthn_challenge_not_found']
const expired = [400, 'webauthn_challenge_expired']
const invalid = [400, 'validation_failed']

const handleOf = (id: string) => Buffer.from(id).toString('base64url')

suite('attacks on signing in', () => {
  const serverFor = sharedServers()

  const deceits: Record<string, (other: Authenticator) => Deceit> = {
    'from another site': () => ({ origin: 'https://app.example.evil.test' }),
    'from a site below, that is not listed': () => ({ origin: 'https://evil.app.example' }),
    'from the site without TLS': () => ({ origin: 'http://app.example' }),
    'from another port': () => ({ origin: `${origin}:8443` }),
    'for another domain': () => ({ rpId: 'evil.test' }),
    'of another challenge': () => ({ challenge: Buffer.alloc(32).toString('base64url') }),
    'of a ceremony that makes a key': () => ({ type: 'webauthn.create' }),
    'signed by another key': ({ privateKey }) => ({ privateKey }),
    'of a key of another kind': () => ({
      privateKey: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
    }),
    'with the id of another passkey': ({ id }) => ({ id }),
    'with the id of none': () => ({ id: 'AAAA' }),
    'for another person': () => ({ userHandle: handleOf(crypto.randomUUID()) }),
    'for nobody': () => ({ userHandle: undefined }),
    'without anybody present': () => ({ flags: 0x1c }),
    'of a key that is kept in one device now': () => ({ flags: 0x05 }),
  }
  for (const [what, deceitOf] of Object.entries(deceits)) {
    test(`an answer ${what}`, async () => {
      const { app } = await serverFor(passkeysOn)
      const { person, device } = await withPasskey(app)
      const other = await withPasskey(app)
      const { challenge_id, options } = await askForSignIn(app)
      const credential = device.get(options, deceitOf(other.device))
      assert.deepEqual(outcomeOf(await finishSignIn(app, { challenge_id, credential })), refused)
      const honest = { challenge_id, credential: device.get(options) }
      assert.deepEqual(outcomeOf(await finishSignIn(app, honest)), notFound)
      assert.equal((await passkeysOf(app, person))[0]?.last_used_at, undefined)
      assert.equal((await signInBy(app, device)).user.id, person.user.id)
    })
  }

  test('every refusal is the same, known passkey or not', async () => {
    const { app } = await serverFor(passkeysOn)
    const { device } = await withPasskey(app)
    const answers = []
    for (const deceit of [{ id: 'AAAA' }, { origin: 'https://evil.test' }, { flags: 0 }]) {
      const { challenge_id, options } = await askForSignIn(app)
      const credential = device.get(options, deceit)
      answers.push(await finishSignIn(app, { challenge_id, credential }))
    }
    assert.equal(new Set(answers.map(({ body }) => body)).size, 1)
  })

  test('an answer that was accepted, again', async () => {
    const { app } = await serverFor(passkeysOn)
    const { device } = await withPasskey(app)
    const { challenge_id, options } = await askForSignIn(app)
    const body = { challenge_id, credential: device.get(options) }
    assert.equal((await finishSignIn(app, body)).statusCode, 200)
    assert.deepEqual(outcomeOf(await finishSignIn(app, body)), notFound)
    const fresh = await askForSignIn(app)
    const replayed = { ...body, challenge_id: fresh.challenge_id }
    assert.deepEqual(outcomeOf(await finishSignIn(app, replayed)), refused)
  })

  test('of twenty at once with one challenge, one is accepted', async () => {
    const { app } = await serverFor(passkeysOn)
    const { device } = await withPasskey(app)
    const { challenge_id, options } = await askForSignIn(app)
    const body = { challenge_id, credential: device.get(options) }
    const answers = await Promise.all(Array.from({ length: 20 }, () => finishSignIn(app, body)))
    const codes = answers.map(outcomeOf).map(([, code]) => code)
    assert.equal(codes.filter((code) => code === '').length, 1)
    assert.equal(codes.filter((code) => code === 'webauthn_challenge_not_found').length, 19)
  })

  test('a challenge that has expired', async (t) => {
    const { app } = await serverFor(passkeysOn)
    const { device } = await withPasskey(app)
    const started = Date.now()
    t.mock.timers.enable({ apis: ['Date'], now: started })
    const { challenge_id, options } = await askForSignIn(app)
    t.mock.timers.setTime(started + 300_000)
    const body = { challenge_id, credential: device.get(options) }
    assert.deepEqual(outcomeOf(await finishSignIn(app, body)), expired)
    assert.deepEqual(outcomeOf(await finishSignIn(app, body)), notFound)
  })

  test('AUTH_WEBAUTHN_CHALLENGE_EXPIRY_DURATION is how long a challenge can be answered', async (t) => {
    const { app } = await serverFor({
      ...passkeysOn,
      AUTH_WEBAUTHN_CHALLENGE_EXPIRY_DURATION: '10m',
    })
    const { device } = await withPasskey(app)
    const started = Date.now()
    t.mock.timers.enable({ apis: ['Date'], now: started })
    const [first, second] = [await askForSignIn(app), await askForSignIn(app)]
    const answered = ({ challenge_id, options }: typeof first) =>
      finishSignIn(app, { challenge_id, credential: device.get(options) })
    t.mock.timers.setTime(started + 599_000)
    assert.equal((await answered(first)).statusCode, 200)
    t.mock.timers.setTime(started + 600_000)
    assert.deepEqual(outcomeOf(await answered(second)), expired)
  })

  test('a new key pair offered where a signature was asked for', async () => {
    const { app } = await serverFor(passkeysOn)
    const { person } = await withPasskey(app)
    const { challenge_id, options } = await askForSignIn(app)
    const user = { id: handleOf(person.user.id) }
    const credential = newDevice().create({ ...options, user })
    assert.deepEqual(outcomeOf(await finishSignIn(app, { challenge_id, credential })), refused)
    const again = await askForSignIn(app)
    const made = newDevice().create({ ...again.options, user })
    const body = { challenge_id: again.challenge_id, credential: made }
    assert.deepEqual(outcomeOf(await finishRegistration(app, person, body)), notFound)
    assert.equal((await passkeysOf(app, person)).length, 1)
  })

  const forms: [what: string, body: object, refusal: (string | number)[]][] = [
    ['nothing', {}, invalid],
    ['no credential', { challenge_id: crypto.randomUUID() }, invalid],
    ['an id of no form', { challenge_id: 'mine', credential: {} }, invalid],
    ['a text', { challenge_id: crypto.randomUUID(), credential: 'x' }, [400, 'bad_json']],
    ['an unknown challenge', { challenge_id: crypto.randomUUID(), credential: {} }, notFound],
  ]
  for (const [what, body, refusal] of forms) {
    test(`${what}: ${refusal[1]}, to sign in and to register`, async () => {
      const { app } = await serverFor(passkeysOn)
      const person = await newPerson(app)
      assert.deepEqual(outcomeOf(await finishSignIn(app, body)), refusal)
      assert.deepEqual(outcomeOf(await finishRegistration(app, person, body)), refusal)
    })
  }

  const fragments: [what: string, change: (credential: Answer) => unknown][] = [
    ['{}', () => ({})],
    ['no response', ({ response: _, ...rest }) => rest],
    ['an empty signature', (c) => ({ ...c, response: { ...c.response, signature: '' } })],
    [
      'a signature of another alphabet',
      (c) => ({ ...c, response: { ...c.response, signature: '%%' } }),
    ],
    [
      'authenticator data too short',
      (c) => ({ ...c, response: { ...c.response, authenticatorData: 'AAAA' } }),
    ],
    [
      'client data that is no JSON',
      (c) => ({ ...c, response: { ...c.response, clientDataJSON: 'AAAA' } }),
    ],
    ['a list for a text', (c) => ({ ...c, response: { ...c.response, clientDataJSON: ['x'] } })],
    ['another rawId', (c) => ({ ...c, rawId: 'AAAA' })],
    ['another type', (c) => ({ ...c, type: 'password' })],
  ]
  for (const [what, change] of fragments) {
    test(`a credential with ${what} is refused like any other`, async () => {
      const { app } = await serverFor(passkeysOn)
      const { device } = await withPasskey(app)
      const { challenge_id, options } = await askForSignIn(app)
      const credential = change(device.get(options))
      assert.deepEqual(outcomeOf(await finishSignIn(app, { challenge_id, credential })), refused)
    })
  }
})

type Answer = ReturnType<Authenticator['get']>
