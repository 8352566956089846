/** At the most verbose log level, the log contains no secrets of passkeys and recovery codes. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { everyFactor, userWithTotp } from '../../support/factors/factors.ts'
import {
  addPasskey,
  createAuthenticationChallenge,
  createRegistrationChallenge,
  finishRegistration,
  finishSignIn,
  newDevice,
  passkeysOn,
} from '../../support/factors/passkeys.ts'
import { makeCodes, useCode } from '../../support/factors/recovery-codes.ts'
import { build } from '../../support/server.ts'

suite('log of passkeys and recovery codes', () => {
  test('contains no valid or invalid challenge, response, key or code', async (t) => {
    const lines: string[] = []
    const { app } = await build(t, { lines, env: { ...everyFactor, ...passkeysOn } })
    const secrets: string[] = []
    const { session } = await userWithTotp(app)
    const { device } = await addPasskey(app, session)

    for (const forgery of [
      {},
      { origin: 'https://evil.test' },
      { type: 'x' },
      { challenge: 'QUJD' },
    ]) {
      const pending = await createAuthenticationChallenge(app)
      const credential = device.get(pending.options, forgery)
      const { challenge_id } = pending
      await finishSignIn(app, { challenge_id, credential })
      const { clientDataJSON, signature, authenticatorData } = credential.response
      secrets.push(pending.options.challenge, clientDataJSON, signature, authenticatorData)

      const added = await createRegistrationChallenge(app, session)
      const made = newDevice().create(added.options, forgery)
      const body = { challenge_id: added.challenge_id, credential: made }
      await finishRegistration(app, session, body)
      secrets.push(added.options.challenge, made.response.attestationObject)
    }
    const { challenge_id, options } = await createAuthenticationChallenge(app)
    const cut = { ...device.get(options) }
    const clientDataJSON = Buffer.from(`{"challenge":"${options.challenge}`).toString('base64url')
    const credential = { ...cut, response: { ...cut.response, clientDataJSON } }
    await finishSignIn(app, { challenge_id, credential })
    secrets.push(options.challenge)

    const codes: string[] = (await makeCodes(app, session)).json().codes
    await useCode(app, session, codes[0] ?? '')
    await useCode(app, session, 'wrong-guess')
    secrets.push(...codes, ...codes.map((code) => code.replace('-', '')), 'wrong-guess')

    await app.close()
    assert.ok(lines.length > 30)
    const log = lines.join('\n')
    for (const secret of secrets) {
      assert.ok(secret.length >= 8)
      const line = lines.find((each) => each.includes(secret))
      assert.ok(!log.includes(secret), line)
      // A message may quote the beginning of malformed input.
      assert.ok(!log.includes(secret.slice(0, 12)) || secret.startsWith('eyJ'), secret)
    }
    assert.ok(log.includes('https://evil.test'), 'a wrong origin is what an operator has to find')
  })
})
