/** Attacks on passkey registration: each is rejected, and a challenge is bound to its user and session. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../../schemas/session.ts'
import type { Forgery } from '../../support/factors/authenticator.ts'
import {
  addPasskey,
  bodyOf200,
  createRegistrationChallenge,
  fetchPasskeys,
  finishRegistration,
  finishSignIn,
  newDevice,
  passkeysOn,
  tryPasskey,
  userWithPasskey,
} from '../../support/factors/passkeys.ts'
import { emailAfter, open, waitForIdleQueue } from '../../support/messages/mail-journeys.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call, statusAndCode } from '../../support/requests.ts'
import type { App } from '../../support/server.ts'
import { newAddress, signedIn, signIn, signUp, signUpUser } from '../../support/users.ts'

const rejected = [400, 'webauthn_verification_failed']
const notFound = [400, 'webauthn_challenge_not_found']

suite('passkey registration attacks', () => {
  const serverFor = sharedServers()

  const forgeries: Record<string, Forgery> = {
    'from another origin': { origin: 'https://evil.test' },
    'for another domain': { rpId: 'evil.test' },
    'of another challenge': { challenge: Buffer.alloc(32).toString('base64url') },
    'of an authentication ceremony': { type: 'webauthn.get' },
    'with another id': { id: 'AAAA' },
    'without user presence': { flags: 0x5c },
    'without a key': { flags: 0x1d },
  }
  for (const [what, forgery] of Object.entries(forgeries)) {
    test(`rejects a credential ${what} and consumes the challenge`, async () => {
      const { app } = await serverFor(passkeysOn)
      const user = await signUpUser(app)
      const { challenge_id, options } = await createRegistrationChallenge(app, user)
      const device = newDevice()
      const credential = device.create(options, forgery)
      const response = await finishRegistration(app, user, { challenge_id, credential })
      assert.deepEqual(statusAndCode(response), rejected)
      const honest = { challenge_id, credential: device.create(options) }
      assert.deepEqual(statusAndCode(await finishRegistration(app, user, honest)), notFound)
      assert.deepEqual(await fetchPasskeys(app, user), [])
    })
  }

  for (const [idSize, outcome] of [
    [1023, [200, '']],
    [1024, rejected],
    // Larger than the body limit of a public endpoint.
    [65_535, [413, 'request_entity_too_large']],
  ] as const) {
    test(`returns ${outcome[0]} for a credential id of ${idSize} bytes`, async () => {
      const { app } = await serverFor(passkeysOn)
      const user = await signUpUser(app)
      const { challenge_id, options } = await createRegistrationChallenge(app, user)
      const credential = newDevice({ idSize }).create(options)
      const response = await finishRegistration(app, user, { challenge_id, credential })
      assert.deepEqual(statusAndCode(response), outcome)
    })
  }

  const attackers: Record<string, (app: App, mine: Requested) => Promise<Session>> = {
    'of another user': async (app) => signUpUser(app),
    'of another session': async (app, { email }) => signedIn(app, email),
  }
  for (const [what, createAttacker] of Object.entries(attackers)) {
    test(`rejects a challenge ${what} and keeps it valid for its user`, async () => {
      const { app } = await serverFor(passkeysOn)
      const mine = await signUpUser(app)
      const { challenge_id, options } = await createRegistrationChallenge(app, mine)
      const body = { challenge_id, credential: newDevice().create(options) }
      const attacker = await createAttacker(app, mine)
      assert.deepEqual(statusAndCode(await finishRegistration(app, attacker, body)), notFound)
      assert.equal((await finishRegistration(app, mine, body)).statusCode, 200)
      assert.deepEqual(statusAndCode(await finishRegistration(app, mine, body)), notFound)
    })
  }

  test('rejects a registration challenge for authentication and does not consume it', async () => {
    const { app } = await serverFor(passkeysOn)
    const { user, device } = await userWithPasskey(app)
    const { challenge_id, options } = await createRegistrationChallenge(app, user)
    const credential = device.get(options)
    assert.deepEqual(statusAndCode(await finishSignIn(app, { challenge_id, credential })), notFound)
    const body = { challenge_id, credential: newDevice().create(options) }
    assert.equal((await finishRegistration(app, user, body)).statusCode, 200)
  })

  test('rejects a challenge of a revoked session', async () => {
    const { app } = await serverFor(passkeysOn)
    const mine = await signUpUser(app)
    const { challenge_id, options } = await createRegistrationChallenge(app, mine)
    const token = mine.access_token
    await call(app, '/logout?scope=local', {}, { token })
    const body = { challenge_id, credential: newDevice().create(options) }
    const response = await finishRegistration(app, mine, body)
    assert.deepEqual(statusAndCode(response), [403, 'session_not_found'])
    const other = await signedIn(app, mine.email)
    assert.deepEqual(statusAndCode(await finishRegistration(app, other, body)), notFound)
  })

  test('drops a passkey from before the email was verified', async () => {
    const unverified = {
      AUTH_MAILER_AUTOCONFIRM: 'false',
      AUTH_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS: 'true',
    }
    const server = await serverFor({ ...passkeysOn, ...unverified })
    const { app } = server
    const email = newAddress()
    await signUp(app, { email })
    const { device } = await addPasskey(app, bodyOf200<Session>(await signIn(app, { email })))
    assert.equal((await tryPasskey(app, device)).statusCode, 200)
    await waitForIdleQueue(server)
    const message = await emailAfter(server, email, () => call(app, '/otp', { email }))
    assert.equal((await open(app, message)).statusCode, 303)
    assert.deepEqual(statusAndCode(await tryPasskey(app, device)), rejected)
  })
})
type Requested = Awaited<ReturnType<typeof signUpUser>>
