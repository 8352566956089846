/** Passkeys over HTTP: adding, listing, renaming and deleting them, and who may. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { asAdmin } from '../support/admin.ts'
import { addTotp, everyFactor, prove } from '../support/factors.ts'
import {
  addPasskey,
  askToRegister,
  finishRegistration,
  newDevice,
  passkeysOf,
  passkeysOn,
  rpId,
  send,
  tryPasskey,
  withPasskey,
} from '../support/passkeys.ts'
import { anonymousPerson, newPerson, signedIn } from '../support/people.ts'
import { call, outcomeOf } from '../support/requests.ts'
import { sharedServers } from '../support/shared-servers.ts'

const ask = '/passkeys/registration/options'

suite('adding a passkey', () => {
  const serverFor = sharedServers()

  test('the browser is told what to make', async () => {
    const { app } = await serverFor(passkeysOn)
    const person = await newPerson(app)
    const { challenge_id, options, expires_at } = await askToRegister(app, person)
    assert.match(challenge_id, /^[0-9a-f-]{36}$/)
    assert.ok(Math.abs(expires_at - Date.now() / 1000 - 300) < 5)
    const { challenge, user, ...rest } = options
    assert.equal(Buffer.from(challenge, 'base64url').length, 32)
    assert.equal(Buffer.from(user.id, 'base64url').toString(), person.user.id)
    assert.deepEqual([user.name, user.displayName], [person.email, person.email])
    const parameters = [-7, -35, -36, -257, -258, -259, -37, -38, -39, -8]
    const { rp, timeout, attestation, excludeCredentials, pubKeyCredParams } = rest
    assert.deepEqual(
      { rp, timeout, attestation, excludeCredentials, pubKeyCredParams },
      {
        rp: { id: rpId, name: 'The app' },
        timeout: 300_000,
        attestation: 'none',
        excludeCredentials: [],
        pubKeyCredParams: parameters.map((alg) => ({ alg, type: 'public-key' })),
      },
    )
    const { residentKey, userVerification } = Object(rest.authenticatorSelection)
    assert.deepEqual([residentKey, userVerification], ['required', 'preferred'])
  })

  test('for the domain as browsers write it', async () => {
    const { app } = await serverFor({ ...passkeysOn, AUTH_WEBAUTHN_RP_ID: 'App.Example' })
    const person = await newPerson(app)
    const { options } = await askToRegister(app, person)
    assert.deepEqual(options.rp, { id: 'app.example', name: 'The app' })
    await addPasskey(app, person, newDevice())
  })

  test('it is kept under the name of its maker, and the next one excludes it', async () => {
    const { app } = await serverFor(passkeysOn)
    const person = await newPerson(app)
    const device = newDevice({ aaguid: 'ea9b8d66-4d01-1d21-3ce4-b6b48cb575d4' })
    const { passkey } = await addPasskey(app, person, device)
    assert.equal(passkey.friendly_name, 'Google Password Manager')
    assert.equal(passkey.last_used_at, undefined)
    const { options } = await askToRegister(app, person)
    assert.deepEqual(options.excludeCredentials, [{ id: device.id, type: 'public-key' }])
    const other = await addPasskey(app, person)
    assert.equal(other.passkey.friendly_name, 'Passkey')
    assert.deepEqual(await passkeysOf(app, person), [passkey, other.passkey])
  })

  test('the row is as GoTrue stores it', async () => {
    const { app } = await serverFor(passkeysOn)
    const aaguid = 'd548826e-79b4-db40-a3d8-11116f7e8349'
    const { person, device } = await withPasskey(app, { aaguid })
    const row = await app.db
      .selectFrom('webauthn_credentials')
      .selectAll()
      .where('user_id', '=', person.user.id)
      .executeTakeFirstOrThrow()
    assert.equal(row.credential_id.toString('base64url'), device.id)
    assert.deepEqual(row.public_key, device.publicKey)
    const { sign_count, transports, backup_eligible, backed_up, attestation_type } = row
    assert.deepEqual(
      { sign_count: Number(sign_count), transports, backup_eligible, backed_up, attestation_type },
      {
        sign_count: 0,
        transports: ['internal', 'hybrid'],
        backup_eligible: true,
        backed_up: true,
        attestation_type: 'none',
      },
    )
    assert.equal(row.aaguid, aaguid)
    assert.equal(row.friendly_name, 'Bitwarden')
  })

  for (const algorithm of ['ES256', 'EdDSA', 'RS256'] as const) {
    test(`a key for ${algorithm} is taken, and signs in`, async () => {
      const { app } = await serverFor(passkeysOn)
      const { device } = await withPasskey(app, { algorithm })
      assert.equal((await tryPasskey(app, device)).statusCode, 200)
    })
  }

  test('a client that says null where it has nothing to say is understood', async () => {
    const { app } = await serverFor(passkeysOn)
    const person = await newPerson(app)
    const { challenge_id, options } = await askToRegister(app, person)
    const made = newDevice().create(options)
    const response = { ...made.response, transports: null }
    const credential = { ...made, authenticatorAttachment: null, response }
    const answer = await finishRegistration(app, person, { challenge_id, credential })
    assert.equal(answer.statusCode, 200, answer.body)
  })

  for (const origin of [
    'https://app.example',
    'https://shop.app.example',
    `android:apk-key-hash:${'k'.repeat(43)}`,
  ]) {
    test(`from ${origin}`, async () => {
      const apps = `https://app.example,HTTPS://Shop.App.Example/,android:apk-key-hash:${'k'.repeat(43)}`
      const { app } = await serverFor({ ...passkeysOn, AUTH_WEBAUTHN_RP_ORIGINS: apps })
      const { device } = await withPasskey(app, { origin })
      assert.equal((await tryPasskey(app, device)).statusCode, 200)
    })
  }

  test('the most that one person may have is checked at both steps', async () => {
    const { app } = await serverFor({ ...passkeysOn, AUTH_PASSKEY_MAX_PASSKEYS_PER_USER: '2' })
    const person = await newPerson(app)
    await addPasskey(app, person)
    const asked = await askToRegister(app, person)
    await addPasskey(app, person)
    const full = [422, 'too_many_passkeys']
    assert.deepEqual(outcomeOf(await send(app, 'POST', ask, person, {})), full)
    const credential = newDevice().create(asked.options)
    const body = { challenge_id: asked.challenge_id, credential }
    assert.deepEqual(outcomeOf(await finishRegistration(app, person, body)), full)
  })

  test('of many at once, no more than may be are taken', async () => {
    const { app } = await serverFor({ ...passkeysOn, AUTH_PASSKEY_MAX_PASSKEYS_PER_USER: '2' })
    const person = await newPerson(app)
    const asked = await Promise.all(Array.from({ length: 6 }, () => askToRegister(app, person)))
    const answers = await Promise.all(
      asked.map(({ challenge_id, options }) =>
        finishRegistration(app, person, { challenge_id, credential: newDevice().create(options) }),
      ),
    )
    assert.equal(answers.filter(({ statusCode }) => statusCode === 200).length, 2)
    assert.equal((await passkeysOf(app, person)).length, 2)
  })

  test('a key that somebody has already is refused', async () => {
    const { app } = await serverFor(passkeysOn)
    const { device } = await withPasskey(app)
    const other = await newPerson(app)
    const { challenge_id, options } = await askToRegister(app, other)
    const credential = device.create(options)
    const answer = await finishRegistration(app, other, { challenge_id, credential })
    assert.deepEqual(outcomeOf(answer), [422, 'webauthn_credential_exists'])
  })

  test('whoever has a second factor must have proven it, at both steps and to delete', async () => {
    const { app } = await serverFor({ ...everyFactor, ...passkeysOn })
    const before = await newPerson(app)
    const { passkey } = await addPasskey(app, before)
    const asked = await askToRegister(app, before)
    const raised = await prove(app, before, await addTotp(app, before))
    const low = await signedIn(app, before.email)
    const insufficient = [403, 'insufficient_aal']
    assert.deepEqual(outcomeOf(await send(app, 'POST', ask, low, {})), insufficient)
    const credential = newDevice().create(asked.options)
    const body = { challenge_id: asked.challenge_id, credential }
    assert.deepEqual(outcomeOf(await finishRegistration(app, low, body)), insufficient)
    const url = `/passkeys/${passkey.id}`
    assert.deepEqual(outcomeOf(await send(app, 'DELETE', url, low)), insufficient)
    const renamed = await send(app, 'PATCH', url, low, { friendly_name: 'Mine' })
    assert.equal(renamed.statusCode, 200)
    await addPasskey(app, raised)
    assert.equal((await send(app, 'DELETE', url, raised)).statusCode, 204)
  })

  test('somebody of an identity provider, and somebody anonymous, may not', async () => {
    const anonymous = { AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true' }
    const { app } = await serverFor({ ...passkeysOn, ...anonymous })
    const nobody = await anonymousPerson(app)
    assert.deepEqual(outcomeOf(await send(app, 'POST', ask, nobody, {})), [403, 'no_authorization'])
    const person = await newPerson(app)
    await app.db
      .updateTable('users')
      .set({ is_sso_user: true })
      .where('id', '=', person.user.id)
      .execute()
    const refused = await send(app, 'POST', ask, person, {})
    assert.deepEqual(outcomeOf(refused), [422, 'validation_failed'])
  })
})

suite('the passkeys of a person', () => {
  const serverFor = sharedServers()

  test('are renamed, by any name of 1 to 120 bytes', async () => {
    const { app } = await serverFor(passkeysOn)
    const { person, passkey } = await withPasskey(app)
    const url = `/passkeys/${passkey.id}`
    for (const name of ['x', 'ü'.repeat(60)]) {
      const response = await send(app, 'PATCH', url, person, { friendly_name: name })
      assert.equal(response.statusCode, 200, response.body)
      assert.equal(response.json().friendly_name, name)
    }
    for (const body of [{}, { friendly_name: '' }, { friendly_name: `${'ü'.repeat(60)}x` }]) {
      const response = await send(app, 'PATCH', url, person, body)
      assert.deepEqual(outcomeOf(response), [400, 'validation_failed'])
    }
    assert.equal((await passkeysOf(app, person))[0]?.friendly_name, 'ü'.repeat(60))
  })

  test('a deleted one signs nobody in', async () => {
    const { app } = await serverFor(passkeysOn)
    const { person, device, passkey } = await withPasskey(app)
    const url = `/passkeys/${passkey.id}`
    assert.equal((await send(app, 'DELETE', url, person)).statusCode, 204)
    assert.deepEqual(await passkeysOf(app, person), [])
    const gone = [400, 'webauthn_verification_failed']
    assert.deepEqual(outcomeOf(await tryPasskey(app, device)), gone)
    assert.deepEqual(outcomeOf(await send(app, 'DELETE', url, person)), [404, 'validation_failed'])
  })

  for (const [what, id] of [
    ['of somebody else', undefined],
    ['of nobody', crypto.randomUUID()],
    ['of no form', 'mine'],
  ] as const) {
    test(`an id ${what} is 404 to each of them`, async () => {
      const { app } = await serverFor(passkeysOn)
      const other = await withPasskey(app)
      const person = await newPerson(app)
      const url = `/passkeys/${id ?? other.passkey.id}`
      const missing = [404, 'validation_failed']
      const body = { friendly_name: 'Mine' }
      assert.deepEqual(outcomeOf(await send(app, 'PATCH', url, person, body)), missing)
      assert.deepEqual(outcomeOf(await send(app, 'DELETE', url, person)), missing)
      assert.equal((await passkeysOf(app, other.person)).length, 1)
    })
  }

  test('are listed and deleted by admins, also where passkeys are off', async () => {
    const { app } = await serverFor(passkeysOn)
    const { person, device, passkey } = await withPasskey(app)
    const url = `/admin/users/${person.user.id}/passkeys`
    assert.deepEqual((await asAdmin(app, 'GET', url)).json(), [passkey])
    assert.equal((await asAdmin(app, 'DELETE', `${url}/${passkey.id}`)).statusCode, 204)
    assert.deepEqual((await asAdmin(app, 'GET', url)).json(), [])
    assert.equal((await tryPasskey(app, device)).statusCode, 400)
    const missing = [404, 'validation_failed']
    assert.deepEqual(outcomeOf(await asAdmin(app, 'DELETE', `${url}/${passkey.id}`)), missing)
    const nobody = `/admin/users/${crypto.randomUUID()}/passkeys`
    assert.deepEqual(outcomeOf(await asAdmin(app, 'GET', nobody)), [404, 'user_not_found'])
    const off = (await serverFor()).app
    assert.deepEqual(outcomeOf(await asAdmin(off, 'GET', nobody)), [404, 'user_not_found'])
  })

  test('each change is in the audit trail', async () => {
    const { app } = await serverFor(passkeysOn)
    const { person, passkey } = await withPasskey(app)
    await send(app, 'PATCH', `/passkeys/${passkey.id}`, person, { friendly_name: 'Mine' })
    await send(app, 'DELETE', `/passkeys/${passkey.id}`, person)
    const rows = await app.db.selectFrom('audit_log_entries').select('payload').execute()
    const actions = rows
      .map(({ payload }) => payload)
      .filter(({ actor_id, traits }) => actor_id === person.user.id && traits?.passkey_id)
      .map(({ action, log_type }) => [action, log_type])
    assert.deepEqual(actions, [
      ['passkey_created', 'user'],
      ['passkey_updated', 'user'],
      ['passkey_deleted', 'user'],
    ])
  })
})

suite('where passkeys are off', () => {
  const serverFor = sharedServers()

  for (const [method, url] of [
    ['POST', '/passkeys/registration/options'],
    ['POST', '/passkeys/registration/verify'],
    ['POST', '/passkeys/authentication/options'],
    ['POST', '/passkeys/authentication/verify'],
    ['GET', '/passkeys'],
    ['PATCH', `/passkeys/${crypto.randomUUID()}`],
    ['DELETE', `/passkeys/${crypto.randomUUID()}`],
  ] as const) {
    test(`${method} ${url.replace(/[0-9a-f-]{36}/, 'id')} is 404 passkey_disabled`, async () => {
      const { app } = await serverFor()
      const answer = await app.inject({ method, url, ...(method !== 'GET' && { payload: {} }) })
      assert.deepEqual(outcomeOf(answer), [404, 'passkey_disabled'])
    })
  }

  test('GET /settings says which it is', async () => {
    const settings = async (env: Record<string, string>) =>
      (await call((await serverFor(env)).app, '/settings')).json()
    assert.equal((await settings({})).passkeys_enabled, false)
    assert.equal((await settings(passkeysOn)).passkeys_enabled, true)
  })
})
