/** Attacks on passkey authentication: each is rejected, and a challenge can be used once. */
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { suite, test } from 'node:test'

import type { Authenticator, Forgery } from '../../support/factors/authenticator.ts'
import {
  createAuthenticationChallenge,
  fetchPasskeys,
  finishRegistration,
  finishSignIn,
  newDevice,
  origin,
  passkeysOn,
  signInBy,
  userWithPasskey,
} from '../../support/factors/passkeys.ts'
import { serversOnOneDatabase } from '../../support/processes/shared-servers.ts'
import { statusAndCode } from '../../support/requests.ts'
import { signUpUser } from '../../support/users.ts'

const rejected = [400, 'webauthn_verification_failed']
const notFound = [400, 'webauthn_challenge_not_found']
const expired = [400, 'webauthn_challenge_expired']
const invalid = [400, 'validation_failed']

const encodeHandle = (id: string) => Buffer.from(id).toString('base64url')

suite('passkey authentication attacks', () => {
  const serverFor = serversOnOneDatabase()

  const forgeries: Record<string, (other: Authenticator) => Forgery> = {
    'from another origin': () => ({ origin: 'https://app.example.evil.test' }),
    'from an unlisted subdomain': () => ({ origin: 'https://evil.app.example' }),
    'from the origin without TLS': () => ({ origin: 'http://app.example' }),
    'from another port': () => ({ origin: `${origin}:8443` }),
    'for another domain': () => ({ rpId: 'evil.test' }),
    'of another challenge': () => ({ challenge: Buffer.alloc(32).toString('base64url') }),
    'of a registration ceremony': () => ({ type: 'webauthn.create' }),
    'signed by another key': ({ privateKey }) => ({ privateKey }),
    'with a key of another type': () => ({
      privateKey: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
    }),
    'with the id of another passkey': ({ id }) => ({ id }),
    'with an unknown id': () => ({ id: 'AAAA' }),
    'for another user': () => ({ userHandle: encodeHandle(crypto.randomUUID()) }),
    'without a user handle': () => ({ userHandle: undefined }),
    'without user presence': () => ({ flags: 0x1c }),
    'with a changed backup state': () => ({ flags: 0x05 }),
  }
  for (const [what, forge] of Object.entries(forgeries)) {
    test(`rejects a response ${what}`, async () => {
      const { app } = await serverFor(passkeysOn)
      const { user, device } = await userWithPasskey(app)
      const other = await userWithPasskey(app)
      const { challenge_id, options } = await createAuthenticationChallenge(app)
      const credential = device.get(options, forge(other.device))
      assert.deepEqual(
        statusAndCode(await finishSignIn(app, { challenge_id, credential })),
        rejected,
      )
      const honest = { challenge_id, credential: device.get(options) }
      assert.deepEqual(statusAndCode(await finishSignIn(app, honest)), notFound)
      assert.equal((await fetchPasskeys(app, user))[0]?.last_used_at, undefined)
      assert.equal((await signInBy(app, device)).user.id, user.user.id)
    })
  }

  test('responds identically for known and unknown passkeys', async () => {
    const { app } = await serverFor(passkeysOn)
    const { device } = await userWithPasskey(app)
    const responses = []
    for (const forgery of [{ id: 'AAAA' }, { origin: 'https://evil.test' }, { flags: 0 }]) {
      const { challenge_id, options } = await createAuthenticationChallenge(app)
      const credential = device.get(options, forgery)
      responses.push(await finishSignIn(app, { challenge_id, credential }))
    }
    assert.equal(new Set(responses.map(({ body }) => body)).size, 1)
  })

  test('rejects an accepted response the second time', async () => {
    const { app } = await serverFor(passkeysOn)
    const { device } = await userWithPasskey(app)
    const { challenge_id, options } = await createAuthenticationChallenge(app)
    const body = { challenge_id, credential: device.get(options) }
    assert.equal((await finishSignIn(app, body)).statusCode, 200)
    assert.deepEqual(statusAndCode(await finishSignIn(app, body)), notFound)
    const fresh = await createAuthenticationChallenge(app)
    const replayed = { ...body, challenge_id: fresh.challenge_id }
    assert.deepEqual(statusAndCode(await finishSignIn(app, replayed)), rejected)
  })

  test('accepts one of twenty racing responses to one challenge', async () => {
    const { app } = await serverFor(passkeysOn)
    const { device } = await userWithPasskey(app)
    const { challenge_id, options } = await createAuthenticationChallenge(app)
    const body = { challenge_id, credential: device.get(options) }
    const responses = await Promise.all(Array.from({ length: 20 }, () => finishSignIn(app, body)))
    const codes = responses.map(statusAndCode).map(([, code]) => code)
    assert.equal(codes.filter((code) => code === '').length, 1)
    assert.equal(codes.filter((code) => code === 'webauthn_challenge_not_found').length, 19)
  })

  test('rejects an expired challenge', async (t) => {
    const { app } = await serverFor(passkeysOn)
    const { device } = await userWithPasskey(app)
    const started = Date.now()
    t.mock.timers.enable({ apis: ['Date'], now: started })
    const { challenge_id, options } = await createAuthenticationChallenge(app)
    t.mock.timers.setTime(started + 300_000)
    const body = { challenge_id, credential: device.get(options) }
    assert.deepEqual(statusAndCode(await finishSignIn(app, body)), expired)
    assert.deepEqual(statusAndCode(await finishSignIn(app, body)), notFound)
  })

  test('AUTH_WEBAUTHN_CHALLENGE_EXPIRY_DURATION limits the lifetime of a challenge', async (t) => {
    const { app } = await serverFor({
      ...passkeysOn,
      AUTH_WEBAUTHN_CHALLENGE_EXPIRY_DURATION: '10m',
    })
    const { device } = await userWithPasskey(app)
    const started = Date.now()
    t.mock.timers.enable({ apis: ['Date'], now: started })
    const [first, second] = [
      await createAuthenticationChallenge(app),
      await createAuthenticationChallenge(app),
    ]
    const responded = ({ challenge_id, options }: typeof first) =>
      finishSignIn(app, { challenge_id, credential: device.get(options) })
    t.mock.timers.setTime(started + 599_000)
    assert.equal((await responded(first)).statusCode, 200)
    t.mock.timers.setTime(started + 600_000)
    assert.deepEqual(statusAndCode(await responded(second)), expired)
  })

  test('rejects an attestation instead of an assertion', async () => {
    const { app } = await serverFor(passkeysOn)
    const { user: account } = await userWithPasskey(app)
    const { challenge_id, options } = await createAuthenticationChallenge(app)
    const user = { id: encodeHandle(account.user.id) }
    const credential = newDevice().create({ ...options, user })
    assert.deepEqual(statusAndCode(await finishSignIn(app, { challenge_id, credential })), rejected)
    const again = await createAuthenticationChallenge(app)
    const made = newDevice().create({ ...again.options, user })
    const body = { challenge_id: again.challenge_id, credential: made }
    assert.deepEqual(statusAndCode(await finishRegistration(app, account, body)), notFound)
    assert.equal((await fetchPasskeys(app, account)).length, 1)
  })

  const forms: [what: string, body: object, rejection: (string | number)[]][] = [
    ['nothing', {}, invalid],
    ['no credential', { challenge_id: crypto.randomUUID() }, invalid],
    ['a malformed challenge id', { challenge_id: 'mine', credential: {} }, invalid],
    [
      'a string as credential',
      { challenge_id: crypto.randomUUID(), credential: 'x' },
      [400, 'bad_json'],
    ],
    ['an unknown challenge', { challenge_id: crypto.randomUUID(), credential: {} }, notFound],
  ]
  for (const [what, body, rejection] of forms) {
    test(`returns ${rejection[1]} for ${what}, in authentication and registration`, async () => {
      const { app } = await serverFor(passkeysOn)
      const user = await signUpUser(app)
      assert.deepEqual(statusAndCode(await finishSignIn(app, body)), rejection)
      assert.deepEqual(statusAndCode(await finishRegistration(app, user, body)), rejection)
    })
  }

  const fragments: [what: string, change: (credential: Response) => unknown][] = [
    ['{}', () => ({})],
    ['no response', ({ response: _, ...rest }) => rest],
    ['an empty signature', (c) => ({ ...c, response: { ...c.response, signature: '' } })],
    [
      'a signature in another alphabet',
      (c) => ({ ...c, response: { ...c.response, signature: '%%' } }),
    ],
    [
      'short authenticator data',
      (c) => ({ ...c, response: { ...c.response, authenticatorData: 'AAAA' } }),
    ],
    [
      'client data that is not JSON',
      (c) => ({ ...c, response: { ...c.response, clientDataJSON: 'AAAA' } }),
    ],
    [
      'an array instead of a string',
      (c) => ({ ...c, response: { ...c.response, clientDataJSON: ['x'] } }),
    ],
    ['another rawId', (c) => ({ ...c, rawId: 'AAAA' })],
    ['another type', (c) => ({ ...c, type: 'password' })],
  ]
  for (const [what, change] of fragments) {
    test(`rejects a credential with ${what}`, async () => {
      const { app } = await serverFor(passkeysOn)
      const { device } = await userWithPasskey(app)
      const { challenge_id, options } = await createAuthenticationChallenge(app)
      const credential = change(device.get(options))
      assert.deepEqual(
        statusAndCode(await finishSignIn(app, { challenge_id, credential })),
        rejected,
      )
    })
  }
})

type Response = ReturnType<Authenticator['get']>
