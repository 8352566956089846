/** A copy of a passkey counts on its own: the counter that does not rise gives it away. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import {
  askForSignIn,
  finishSignIn,
  passkeysOn,
  signInBy,
  tryPasskey,
  withPasskey,
} from '../support/passkeys.ts'
import { outcomeOf } from '../support/requests.ts'
import { sharedServers } from '../support/shared-servers.ts'

const refused = [400, 'webauthn_verification_failed']

suite('a copied passkey', () => {
  const serverFor = sharedServers()
  const telling = {
    ...passkeysOn,
    AUTH_MAILER_NOTIFICATIONS_SECURITY_KEY_REFUSED_ENABLED: 'true',
  }

  for (const counter of [0, 1, 2]) {
    test(`whose counter says ${counter} after 2 is refused, written down and told`, async () => {
      const server = await serverFor(telling)
      const { app, mail } = server
      const { person, device, passkey } = await withPasskey(app, { counts: true })
      await signInBy(app, device)
      await signInBy(app, device)
      const { challenge_id, options } = await askForSignIn(app)
      const body = { challenge_id, credential: device.get(options, { counter }) }
      assert.deepEqual(outcomeOf(await finishSignIn(app, body)), refused)

      const told = await mail.waitFor(person.email)
      assert.equal(told.mail.subject, 'A security key of your account was refused')
      const rows = await app.db.selectFrom('audit_log_entries').select('payload').execute()
      const entry = rows
        .map(({ payload }) => payload)
        .findLast((p) => p.action === 'passkey_refused')
      assert.deepEqual(entry?.traits, { passkey_id: passkey.id, reason: 'cloned' })
      assert.equal((await tryPasskey(app, device)).statusCode, 200)
    })
  }

  test('of many answers with one count, one is accepted', async () => {
    const { app } = await serverFor(passkeysOn)
    const { device } = await withPasskey(app, { counts: true })
    const asked = await Promise.all(Array.from({ length: 10 }, () => askForSignIn(app)))
    const answers = await Promise.all(
      asked.map(({ challenge_id, options }) =>
        finishSignIn(app, { challenge_id, credential: device.get(options, { counter: 5 }) }),
      ),
    )
    assert.equal(answers.filter(({ statusCode }) => statusCode === 200).length, 1)
  })

  test('a key that begins to count goes on; one that stops has been copied', async () => {
    const { app } = await serverFor(passkeysOn)
    const { device } = await withPasskey(app)
    const withCount = async (counter: number) => {
      const { challenge_id, options } = await askForSignIn(app)
      return finishSignIn(app, { challenge_id, credential: device.get(options, { counter }) })
    }
    assert.equal((await withCount(0)).statusCode, 200)
    assert.equal((await withCount(0)).statusCode, 200)
    assert.equal((await withCount(4_294_967_295)).statusCode, 200)
    assert.deepEqual(outcomeOf(await withCount(0)), refused)
  })
})
