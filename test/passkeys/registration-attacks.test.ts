/** Attacks on adding a passkey: each is refused, and a challenge is good for whoever asked, in their session. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../schemas/session.ts'
import type { Deceit } from '../support/authenticator.ts'
import { idle, mailAfter, open } from '../support/mail-journeys.ts'
import {
  addPasskey,
  answerOf,
  askToRegister,
  finishRegistration,
  finishSignIn,
  newDevice,
  passkeysOf,
  passkeysOn,
  tryPasskey,
  withPasskey,
} from '../support/passkeys.ts'
import { newAddress, newPerson, signedIn, signIn, signUp } from '../support/people.ts'
import { call, outcomeOf } from '../support/requests.ts'
import type { App } from '../support/server.ts'
import { sharedServers } from '../support/shared-servers.ts'

const refused = [400, 'webauthn_verification_failed']
const notFound = [400, 'webauthn_challenge_not_found']

suite('attacks on adding', () => {
  const serverFor = sharedServers()

  const deceits: Record<string, Deceit> = {
    'from another site': { origin: 'https://evil.test' },
    'for another domain': { rpId: 'evil.test' },
    'of another challenge': { challenge: Buffer.alloc(32).toString('base64url') },
    'of a ceremony that signs': { type: 'webauthn.get' },
    'with another id': { id: 'AAAA' },
    'without anybody present': { flags: 0x5c },
    'without a key': { flags: 0x1d },
  }
  for (const [what, deceit] of Object.entries(deceits)) {
    test(`a key ${what} is refused, and the challenge is spent`, async () => {
      const { app } = await serverFor(passkeysOn)
      const person = await newPerson(app)
      const { challenge_id, options } = await askToRegister(app, person)
      const device = newDevice()
      const credential = device.create(options, deceit)
      const answer = await finishRegistration(app, person, { challenge_id, credential })
      assert.deepEqual(outcomeOf(answer), refused)
      const honest = { challenge_id, credential: device.create(options) }
      assert.deepEqual(outcomeOf(await finishRegistration(app, person, honest)), notFound)
      assert.deepEqual(await passkeysOf(app, person), [])
    })
  }

  for (const [idSize, outcome] of [
    [1023, [200, '']],
    [1024, refused],
    [65_535, refused],
  ] as const) {
    test(`a key whose id has ${idSize} bytes: ${outcome[0]}`, async () => {
      const { app } = await serverFor(passkeysOn)
      const person = await newPerson(app)
      const { challenge_id, options } = await askToRegister(app, person)
      const credential = newDevice({ idSize }).create(options)
      const answer = await finishRegistration(app, person, { challenge_id, credential })
      assert.deepEqual(outcomeOf(answer), outcome)
    })
  }

  const strangers: Record<string, (app: App, mine: Asked) => Promise<Session>> = {
    'of another person': async (app) => newPerson(app),
    'of another session': async (app, { email }) => signedIn(app, email),
  }
  for (const [what, strangerOf] of Object.entries(strangers)) {
    test(`a challenge ${what} is not found, and stays good for whoever asked`, async () => {
      const { app } = await serverFor(passkeysOn)
      const mine = await newPerson(app)
      const { challenge_id, options } = await askToRegister(app, mine)
      const body = { challenge_id, credential: newDevice().create(options) }
      const stranger = await strangerOf(app, mine)
      assert.deepEqual(outcomeOf(await finishRegistration(app, stranger, body)), notFound)
      assert.equal((await finishRegistration(app, mine, body)).statusCode, 200)
      assert.deepEqual(outcomeOf(await finishRegistration(app, mine, body)), notFound)
    })
  }

  test('a challenge of a registration signs nobody in, and stays good', async () => {
    const { app } = await serverFor(passkeysOn)
    const { person, device } = await withPasskey(app)
    const { challenge_id, options } = await askToRegister(app, person)
    const credential = device.get(options)
    assert.deepEqual(outcomeOf(await finishSignIn(app, { challenge_id, credential })), notFound)
    const body = { challenge_id, credential: newDevice().create(options) }
    assert.equal((await finishRegistration(app, person, body)).statusCode, 200)
  })

  test('a challenge dies with its session', async () => {
    const { app } = await serverFor(passkeysOn)
    const mine = await newPerson(app)
    const { challenge_id, options } = await askToRegister(app, mine)
    const token = mine.access_token
    await call(app, '/logout?scope=local', {}, { token })
    const body = { challenge_id, credential: newDevice().create(options) }
    const answer = await finishRegistration(app, mine, body)
    assert.deepEqual(outcomeOf(answer), [403, 'session_not_found'])
    const other = await signedIn(app, mine.email)
    assert.deepEqual(outcomeOf(await finishRegistration(app, other, body)), notFound)
  })

  test('a passkey from before an address was proven does not survive the proof', async () => {
    const unproven = {
      AUTH_MAILER_AUTOCONFIRM: 'false',
      AUTH_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS: 'true',
    }
    const server = await serverFor({ ...passkeysOn, ...unproven })
    const { app } = server
    const email = newAddress()
    await signUp(app, { email })
    const { device } = await addPasskey(app, answerOf<Session>(await signIn(app, { email })))
    assert.equal((await tryPasskey(app, device)).statusCode, 200)
    await idle(server)
    const message = await mailAfter(server, email, () => call(app, '/otp', { email }))
    assert.equal((await open(app, message)).statusCode, 303)
    assert.deepEqual(outcomeOf(await tryPasskey(app, device)), refused)
  })
})
type Asked = Awaited<ReturnType<typeof newPerson>>
