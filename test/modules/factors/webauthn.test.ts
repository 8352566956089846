/** Security keys as second factors, by an authenticator in software. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { challenge, everyFactor, tokenClaims } from '../../support/factors/factors.ts'
import {
  browserOptions,
  enrolKey,
  finish,
  userWithSecurityKey,
} from '../../support/factors/key-journeys.ts'
import { newSecurityKey } from '../../support/factors/security-key.ts'
import { serversOnOneDatabase } from '../../support/processes/shared-servers.ts'
import { signUpUser } from '../../support/users.ts'

suite('security key factor', () => {
  const serverFor = serversOnOneDatabase()

  test('requests an attestation and then an assertion', async () => {
    const { app } = await serverFor(everyFactor)
    const user = await signUpUser(app)
    const { id } = await enrolKey(app, user)
    const create = await challenge(app, user, id)
    assert.equal(create.webauthn?.type, 'create')
    const creation = browserOptions(create)
    assert.deepEqual(creation.rp, { id: 'app.example', name: 'The app' })
    assert.equal(creation.user.name, user.email)
    assert.equal(Buffer.from(creation.user.id, 'base64url').toString(), user.user.id)
    assert.deepEqual(
      creation.pubKeyCredParams.map(({ alg }) => alg),
      [-7, -35, -36, -257, -258, -259, -37, -38, -39, -8],
    )
    assert.equal(Buffer.from(creation.challenge, 'base64url').length, 32)

    const key = newSecurityKey()
    const session = await finish(app, user, id, create.id, key.create(creation))
    assert.equal(tokenClaims(session).aal, 'aal2')
    assert.equal(tokenClaims(session).amr[0]?.method, 'mfa/webauthn')
    assert.equal(
      session.user.factors?.[0]?.web_authn_aaguid,
      '00000000-0000-0000-0000-000000000000',
    )

    const request = await challenge(app, session, id)
    assert.equal(request.webauthn?.type, 'request')
    const expected = browserOptions(request)
    assert.deepEqual(expected.allowCredentials, [
      { id: key.id, type: 'public-key', transports: ['usb'] },
    ])
    await finish(app, session, id, request.id, key.get(expected))
  })

  test('excludes registered keys from a second enrollment', async () => {
    const { app } = await serverFor(everyFactor)
    const { session, key } = await userWithSecurityKey(app)
    const { id } = await enrolKey(app, session, 'second')
    const creation = browserOptions(await challenge(app, session, id))
    assert.deepEqual(creation.excludeCredentials, [
      { id: key.id, type: 'public-key', transports: ['usb', 'nfc'] },
    ])
  })

  test('accepts each key of the user and records the factor of the key', async () => {
    const { app } = await serverFor(everyFactor)
    const first = await userWithSecurityKey(app)
    const second = await userWithSecurityKey(app, first.session, 'second')
    const pending = await challenge(app, second.session, first.id)
    const given = second.key.get(browserOptions(pending))
    const session = await finish(app, second.session, first.id, pending.id, given)
    const { session_id } = tokenClaims(session)
    const { rows } = await app.pool.query('select factor_id from auth.sessions where id = $1', [
      session_id,
    ])
    assert.equal(rows[0].factor_id, second.id)
  })

  test('accepts a key whose counter stays zero', async () => {
    const { app } = await serverFor(everyFactor)
    const { session, key, id } = await userWithSecurityKey(
      app,
      undefined,
      '',
      newSecurityKey({ counts: false }),
    )
    for (const _ of [1, 2]) {
      const pending = await challenge(app, session, id)
      await finish(app, session, id, pending.id, key.get(browserOptions(pending)))
    }
  })

  test('fails to create a challenge without AUTH_WEBAUTHN_RP_ID', async () => {
    const { AUTH_WEBAUTHN_RP_ID: _, ...rest } = everyFactor
    const { app } = await serverFor(rest)
    const user = await signUpUser(app)
    const { id } = await enrolKey(app, user)
    await assert.rejects(challenge(app, user, id), /unexpected_failure/)
  })

  test('accepts a key stored by GoTrue', async () => {
    const { app } = await serverFor(everyFactor)
    const user = await signUpUser(app)
    const { id } = await enrolKey(app, user)
    const key = newSecurityKey()
    const stored = {
      id: Buffer.from(key.id, 'base64url').toString('base64'),
      publicKey: key.publicKey.toString('base64'),
      attestationType: 'none',
      attestationFormat: 'none',
      transport: null,
      flags: { userPresent: true, userVerified: false, backupEligible: false, backupState: false },
      authenticator: {
        AAGUID: 'AAAAAAAAAAAAAAAAAAAAAA==',
        signCount: 0,
        cloneWarning: false,
        attachment: '',
      },
      attestation: {
        clientDataJSON: '',
        clientDataHash: '',
        authenticatorData: '',
        publicKeyAlgorithm: 0,
        object: '',
      },
    }
    await app.pool.query(
      `update auth.mfa_factors set status = 'verified', web_authn_credential = $1 where id = $2`,
      [JSON.stringify(stored), id],
    )
    const pending = await challenge(app, user, id)
    const session = await finish(app, user, id, pending.id, key.get(browserOptions(pending)))
    assert.equal(tokenClaims(session).aal, 'aal2')
  })
})
