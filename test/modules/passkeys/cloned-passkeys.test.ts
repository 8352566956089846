/** A cloned passkey is detected by a counter that does not increase. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import {
  createAuthenticationChallenge,
  finishSignIn,
  passkeysOn,
  signInBy,
  tryPasskey,
  userWithPasskey,
} from '../../support/factors/passkeys.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { statusAndCode } from '../../support/requests.ts'

const rejected = [400, 'webauthn_verification_failed']

suite('cloned passkey', () => {
  const serverFor = sharedServers()
  const notifying = {
    ...passkeysOn,
    AUTH_MAILER_NOTIFICATIONS_SECURITY_KEY_REFUSED_ENABLED: 'true',
  }

  for (const counter of [0, 1, 2]) {
    test(`rejects, logs and reports a passkey with counter ${counter} after 2`, async () => {
      const server = await serverFor(notifying)
      const { app, mail } = server
      const { user, device, passkey } = await userWithPasskey(app, { counts: true })
      await signInBy(app, device)
      await signInBy(app, device)
      const { challenge_id, options } = await createAuthenticationChallenge(app)
      const body = { challenge_id, credential: device.get(options, { counter }) }
      assert.deepEqual(statusAndCode(await finishSignIn(app, body)), rejected)

      const reported = await mail.waitFor(user.email)
      assert.equal(reported.mail.subject, 'A security key of your account was rejected')
      const rows = await app.db.selectFrom('audit_log_entries').select('payload').execute()
      const entry = rows
        .map(({ payload }) => payload)
        .findLast((p) => p.action === 'passkey_refused')
      assert.deepEqual(entry?.traits, { passkey_id: passkey.id, reason: 'cloned' })
      assert.equal((await tryPasskey(app, device)).statusCode, 200)
    })
  }

  test('accepts one of several racing responses with the same counter', async () => {
    const { app } = await serverFor(passkeysOn)
    const { device } = await userWithPasskey(app, { counts: true })
    const requested = await Promise.all(
      Array.from({ length: 10 }, () => createAuthenticationChallenge(app)),
    )
    const responses = await Promise.all(
      requested.map(({ challenge_id, options }) =>
        finishSignIn(app, { challenge_id, credential: device.get(options, { counter: 5 }) }),
      ),
    )
    assert.equal(responses.filter(({ statusCode }) => statusCode === 200).length, 1)
  })

  test('accepts a counter that starts to increase and rejects one that stops', async () => {
    const { app } = await serverFor(passkeysOn)
    const { device } = await userWithPasskey(app)
    const withCount = async (counter: number) => {
      const { challenge_id, options } = await createAuthenticationChallenge(app)
      return finishSignIn(app, { challenge_id, credential: device.get(options, { counter }) })
    }
    assert.equal((await withCount(0)).statusCode, 200)
    assert.equal((await withCount(0)).statusCode, 200)
    assert.equal((await withCount(4_294_967_295)).statusCode, 200)
    assert.deepEqual(statusAndCode(await withCount(0)), rejected)
  })
})
