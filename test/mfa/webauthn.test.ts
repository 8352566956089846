/** Security keys as second factors, by an authenticator in software. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { challenge, claimsOf, everyFactor } from '../support/factors.ts'
import { enrolKey, finish, optionsOf, withKey } from '../support/key-journeys.ts'
import { newPerson } from '../support/people.ts'
import { newSecurityKey } from '../support/security-key.ts'
import { sharedServers } from '../support/shared-servers.ts'

suite('a security key', () => {
  const serverFor = sharedServers()

  test('is asked for a new key pair, then for a signature', async () => {
    const { app } = await serverFor(everyFactor)
    const person = await newPerson(app)
    const { id } = await enrolKey(app, person)
    const create = await challenge(app, person, id)
    assert.equal(create.webauthn?.type, 'create')
    const creation = optionsOf(create)
    assert.deepEqual(creation.rp, { id: 'app.example', name: 'The app' })
    assert.equal(creation.user.name, person.email)
    assert.equal(Buffer.from(creation.user.id, 'base64url').toString(), person.user.id)
    assert.deepEqual(
      creation.pubKeyCredParams.map(({ alg }) => alg),
      [-7, -35, -36, -257, -258, -259, -37, -38, -39, -8],
    )
    assert.equal(Buffer.from(creation.challenge, 'base64url').length, 32)

    const key = newSecurityKey()
    const session = await finish(app, person, id, create.id, key.create(creation))
    assert.equal(claimsOf(session).aal, 'aal2')
    assert.equal(claimsOf(session).amr[0]?.method, 'mfa/webauthn')
    assert.equal(
      session.user.factors?.[0]?.web_authn_aaguid,
      '00000000-0000-0000-0000-000000000000',
    )

    const request = await challenge(app, session, id)
    assert.equal(request.webauthn?.type, 'request')
    const wanted = optionsOf(request)
    assert.deepEqual(wanted.allowCredentials, [
      { id: key.id, type: 'public-key', transports: ['usb'] },
    ])
    await finish(app, session, id, request.id, key.get(wanted))
  })

  test('that is known already is excluded from a second enrolment', async () => {
    const { app } = await serverFor(everyFactor)
    const { session, key } = await withKey(app)
    const { id } = await enrolKey(app, session, 'second')
    const creation = optionsOf(await challenge(app, session, id))
    assert.deepEqual(creation.excludeCredentials, [
      { id: key.id, type: 'public-key', transports: ['usb', 'nfc'] },
    ])
  })

  test('any key of the person answers, and the factor of that key is the proven one', async () => {
    const { app } = await serverFor(everyFactor)
    const first = await withKey(app)
    const second = await withKey(app, first.session, 'second')
    const asked = await challenge(app, second.session, first.id)
    const given = second.key.get(optionsOf(asked))
    const session = await finish(app, second.session, first.id, asked.id, given)
    const { session_id } = claimsOf(session)
    const { rows } = await app.pool.query('select factor_id from auth.sessions where id = $1', [
      session_id,
    ])
    assert.equal(rows[0].factor_id, second.id)
  })

  test('a key that does not count may stay at zero', async () => {
    const { app } = await serverFor(everyFactor)
    const { session, key, id } = await withKey(
      app,
      undefined,
      '',
      newSecurityKey({ counts: false }),
    )
    for (const _ of [1, 2]) {
      const asked = await challenge(app, session, id)
      await finish(app, session, id, asked.id, key.get(optionsOf(asked)))
    }
  })

  test('a server without a relying party cannot make one', async () => {
    const { AUTH_WEBAUTHN_RP_ID: _, ...rest } = everyFactor
    const { app } = await serverFor(rest)
    const person = await newPerson(app)
    const { id } = await enrolKey(app, person)
    await assert.rejects(challenge(app, person, id), /unexpected_failure/)
  })

  test('a key that GoTrue stored is accepted', async () => {
    const { app } = await serverFor(everyFactor)
    const person = await newPerson(app)
    const { id } = await enrolKey(app, person)
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
    const asked = await challenge(app, person, id)
    const session = await finish(app, person, id, asked.id, key.get(optionsOf(asked)))
    assert.equal(claimsOf(session).aal, 'aal2')
  })
})
