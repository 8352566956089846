/** Passkeys over HTTP: registration, list, rename and delete, and their conditions. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { asAdmin } from '../../support/admin.ts'
import { assertExpiresAfter } from '../../support/factors/expiry.ts'
import { addTotp, everyFactor, stepUp } from '../../support/factors/factors.ts'
import {
  addPasskey,
  createRegistrationChallenge,
  fetchPasskeys,
  finishRegistration,
  newDevice,
  passkeysOn,
  rpId,
  send,
  tryPasskey,
  userWithPasskey,
} from '../../support/factors/passkeys.ts'
import { serversOnOneDatabase } from '../../support/processes/shared-servers.ts'
import { call, statusAndCode } from '../../support/requests.ts'
import { anonymousUser, signedIn, signUpUser } from '../../support/users.ts'

const optionsPath = '/passkeys/registration/options'

suite('passkeys', () => {
  const serverFor = serversOnOneDatabase()

  suite('passkey registration', () => {
    test('returns creation options', async () => {
      const { app } = await serverFor(passkeysOn)
      const account = await signUpUser(app)
      const since = Date.now()
      const { challenge_id, options, expires_at } = await createRegistrationChallenge(app, account)
      assert.match(challenge_id, /^[0-9a-f-]{36}$/)
      assertExpiresAfter(300, expires_at, since)
      const { challenge, user, ...rest } = options
      assert.equal(Buffer.from(challenge, 'base64url').length, 32)
      assert.equal(Buffer.from(user.id, 'base64url').toString(), account.user.id)
      assert.deepEqual([user.name, user.displayName], [account.email, account.email])
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

    test('uses the RP id as browsers normalize it', async () => {
      const { app } = await serverFor({ ...passkeysOn, AUTH_WEBAUTHN_RP_ID: 'App.Example' })
      const user = await signUpUser(app)
      const { options } = await createRegistrationChallenge(app, user)
      assert.deepEqual(options.rp, { id: 'app.example', name: 'The app' })
      await addPasskey(app, user, newDevice())
    })

    test('names the passkey by its authenticator and excludes it from the next registration', async () => {
      const { app } = await serverFor(passkeysOn)
      const user = await signUpUser(app)
      const device = newDevice({ aaguid: 'ea9b8d66-4d01-1d21-3ce4-b6b48cb575d4' })
      const { passkey } = await addPasskey(app, user, device)
      assert.equal(passkey.friendly_name, 'Google Password Manager')
      assert.equal(passkey.last_used_at, undefined)
      const { options } = await createRegistrationChallenge(app, user)
      assert.deepEqual(options.excludeCredentials, [{ id: device.id, type: 'public-key' }])
      const other = await addPasskey(app, user)
      assert.equal(other.passkey.friendly_name, 'Passkey')
      assert.deepEqual(await fetchPasskeys(app, user), [passkey, other.passkey])
    })

    test('stores the row as GoTrue does', async () => {
      const { app } = await serverFor(passkeysOn)
      const aaguid = 'd548826e-79b4-db40-a3d8-11116f7e8349'
      const { user, device } = await userWithPasskey(app, { aaguid })
      const row = await app.db
        .selectFrom('webauthn_credentials')
        .selectAll()
        .where('user_id', '=', user.user.id)
        .executeTakeFirstOrThrow()
      assert.equal(row.credential_id.toString('base64url'), device.id)
      assert.deepEqual(row.public_key, device.publicKey)
      const { sign_count, transports, backup_eligible, backed_up, attestation_type } = row
      assert.deepEqual(
        {
          sign_count: Number(sign_count),
          transports,
          backup_eligible,
          backed_up,
          attestation_type,
        },
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
      test(`accepts a ${algorithm} key, which signs in`, async () => {
        const { app } = await serverFor(passkeysOn)
        const { device } = await userWithPasskey(app, { algorithm })
        assert.equal((await tryPasskey(app, device)).statusCode, 200)
      })
    }

    test('accepts null for optional fields', async () => {
      const { app } = await serverFor(passkeysOn)
      const user = await signUpUser(app)
      const { challenge_id, options } = await createRegistrationChallenge(app, user)
      const made = newDevice().create(options)
      const response = { ...made.response, transports: null }
      const credential = { ...made, authenticatorAttachment: null, response }
      const reply = await finishRegistration(app, user, { challenge_id, credential })
      assert.equal(reply.statusCode, 200, reply.body)
    })

    for (const origin of [
      'https://app.example',
      'https://shop.app.example',
      `android:apk-key-hash:${'k'.repeat(43)}`,
    ]) {
      test(`accepts the origin ${origin}`, async () => {
        const apps = `https://app.example,HTTPS://Shop.App.Example/,android:apk-key-hash:${'k'.repeat(43)}`
        const { app } = await serverFor({ ...passkeysOn, AUTH_WEBAUTHN_RP_ORIGINS: apps })
        const { device } = await userWithPasskey(app, { origin })
        assert.equal((await tryPasskey(app, device)).statusCode, 200)
      })
    }

    test('checks the passkey limit at both steps', async () => {
      const { app } = await serverFor({ ...passkeysOn, AUTH_PASSKEY_MAX_PASSKEYS_PER_USER: '2' })
      const user = await signUpUser(app)
      await addPasskey(app, user)
      const pending = await createRegistrationChallenge(app, user)
      await addPasskey(app, user)
      const full = [422, 'too_many_passkeys']
      assert.deepEqual(statusAndCode(await send(app, 'POST', optionsPath, user, {})), full)
      const credential = newDevice().create(pending.options)
      const body = { challenge_id: pending.challenge_id, credential }
      assert.deepEqual(statusAndCode(await finishRegistration(app, user, body)), full)
    })

    test('applies the limit to racing requests', async () => {
      const { app } = await serverFor({ ...passkeysOn, AUTH_PASSKEY_MAX_PASSKEYS_PER_USER: '2' })
      const user = await signUpUser(app)
      const requested = await Promise.all(
        Array.from({ length: 6 }, () => createRegistrationChallenge(app, user)),
      )
      const responses = await Promise.all(
        requested.map(({ challenge_id, options }) =>
          finishRegistration(app, user, { challenge_id, credential: newDevice().create(options) }),
        ),
      )
      assert.equal(responses.filter(({ statusCode }) => statusCode === 200).length, 2)
      assert.equal((await fetchPasskeys(app, user)).length, 2)
    })

    test('rejects a registered credential', async () => {
      const { app } = await serverFor(passkeysOn)
      const { device } = await userWithPasskey(app)
      const other = await signUpUser(app)
      const { challenge_id, options } = await createRegistrationChallenge(app, other)
      const credential = device.create(options)
      const response = await finishRegistration(app, other, { challenge_id, credential })
      assert.deepEqual(statusAndCode(response), [422, 'webauthn_credential_exists'])
    })

    test('requires aal2 from users with a factor at both steps and for deletion', async () => {
      const { app } = await serverFor({ ...everyFactor, ...passkeysOn })
      const before = await signUpUser(app)
      const { passkey } = await addPasskey(app, before)
      const pending = await createRegistrationChallenge(app, before)
      const steppedUp = await stepUp(app, before, await addTotp(app, before))
      const aal1 = await signedIn(app, before.email)
      const insufficient = [403, 'insufficient_aal']
      assert.deepEqual(statusAndCode(await send(app, 'POST', optionsPath, aal1, {})), insufficient)
      const credential = newDevice().create(pending.options)
      const body = { challenge_id: pending.challenge_id, credential }
      assert.deepEqual(statusAndCode(await finishRegistration(app, aal1, body)), insufficient)
      const url = `/passkeys/${passkey.id}`
      assert.deepEqual(statusAndCode(await send(app, 'DELETE', url, aal1)), insufficient)
      const renamed = await send(app, 'PATCH', url, aal1, { friendly_name: 'Mine' })
      assert.equal(renamed.statusCode, 200)
      await addPasskey(app, steppedUp)
      assert.equal((await send(app, 'DELETE', url, steppedUp)).statusCode, 204)
    })

    test('rejects SSO users and anonymous users', async () => {
      const anonymous = { AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true' }
      const { app } = await serverFor({ ...passkeysOn, ...anonymous })
      const unknown = await anonymousUser(app)
      assert.deepEqual(statusAndCode(await send(app, 'POST', optionsPath, unknown, {})), [
        403,
        'no_authorization',
      ])
      const user = await signUpUser(app)
      await app.db
        .updateTable('users')
        .set({ is_sso_user: true })
        .where('id', '=', user.user.id)
        .execute()
      const rejected = await send(app, 'POST', optionsPath, user, {})
      assert.deepEqual(statusAndCode(rejected), [422, 'validation_failed'])
    })
  })

  suite('passkeys of a user', () => {
    test('are renamed with names of 1 to 120 bytes', async () => {
      const { app } = await serverFor(passkeysOn)
      const { user, passkey } = await userWithPasskey(app)
      const url = `/passkeys/${passkey.id}`
      for (const name of ['x', 'ü'.repeat(60)]) {
        const response = await send(app, 'PATCH', url, user, { friendly_name: name })
        assert.equal(response.statusCode, 200, response.body)
        assert.equal(response.json().friendly_name, name)
      }
      for (const body of [{}, { friendly_name: '' }, { friendly_name: `${'ü'.repeat(60)}x` }]) {
        const response = await send(app, 'PATCH', url, user, body)
        assert.deepEqual(statusAndCode(response), [400, 'validation_failed'])
      }
      assert.equal((await fetchPasskeys(app, user))[0]?.friendly_name, 'ü'.repeat(60))
    })

    test('cannot sign in after deletion', async () => {
      const { app } = await serverFor(passkeysOn)
      const { user, device, passkey } = await userWithPasskey(app)
      const url = `/passkeys/${passkey.id}`
      assert.equal((await send(app, 'DELETE', url, user)).statusCode, 204)
      assert.deepEqual(await fetchPasskeys(app, user), [])
      const gone = [400, 'webauthn_verification_failed']
      assert.deepEqual(statusAndCode(await tryPasskey(app, device)), gone)
      assert.deepEqual(statusAndCode(await send(app, 'DELETE', url, user)), [
        404,
        'validation_failed',
      ])
    })

    for (const [what, id] of [
      ['of another user', undefined],
      ['that is unknown', crypto.randomUUID()],
      ['that is malformed', 'mine'],
    ] as const) {
      test(`return 404 for an id ${what}`, async () => {
        const { app } = await serverFor(passkeysOn)
        const other = await userWithPasskey(app)
        const user = await signUpUser(app)
        const url = `/passkeys/${id ?? other.passkey.id}`
        const missing = [404, 'validation_failed']
        const body = { friendly_name: 'Mine' }
        assert.deepEqual(statusAndCode(await send(app, 'PATCH', url, user, body)), missing)
        assert.deepEqual(statusAndCode(await send(app, 'DELETE', url, user)), missing)
        assert.equal((await fetchPasskeys(app, other.user)).length, 1)
      })
    }

    test('are listed and deleted by admins, also while passkeys are disabled', async () => {
      const { app } = await serverFor(passkeysOn)
      const { user, device, passkey } = await userWithPasskey(app)
      const url = `/admin/users/${user.user.id}/passkeys`
      assert.deepEqual((await asAdmin(app, 'GET', url)).json(), [passkey])
      assert.equal((await asAdmin(app, 'DELETE', `${url}/${passkey.id}`)).statusCode, 204)
      assert.deepEqual((await asAdmin(app, 'GET', url)).json(), [])
      assert.equal((await tryPasskey(app, device)).statusCode, 400)
      const missing = [404, 'validation_failed']
      assert.deepEqual(statusAndCode(await asAdmin(app, 'DELETE', `${url}/${passkey.id}`)), missing)
      const unknownId = `/admin/users/${crypto.randomUUID()}/passkeys`
      assert.deepEqual(statusAndCode(await asAdmin(app, 'GET', unknownId)), [404, 'user_not_found'])
      const off = (await serverFor()).app
      assert.deepEqual(statusAndCode(await asAdmin(off, 'GET', unknownId)), [404, 'user_not_found'])
    })

    test('write audit log entries for each change', async () => {
      const { app } = await serverFor(passkeysOn)
      const { user, passkey } = await userWithPasskey(app)
      await send(app, 'PATCH', `/passkeys/${passkey.id}`, user, { friendly_name: 'Mine' })
      await send(app, 'DELETE', `/passkeys/${passkey.id}`, user)
      const rows = await app.db.selectFrom('audit_log_entries').select('payload').execute()
      const actions = rows
        .map(({ payload }) => payload)
        .filter(({ actor_id, traits }) => actor_id === user.user.id && traits?.passkey_id)
        .map(({ action, log_type }) => [action, log_type])
      assert.deepEqual(actions, [
        ['passkey_created', 'user'],
        ['passkey_updated', 'user'],
        ['passkey_deleted', 'user'],
      ])
    })
  })

  suite('passkeys disabled', () => {
    for (const [method, url] of [
      ['POST', '/passkeys/registration/options'],
      ['POST', '/passkeys/registration/verify'],
      ['POST', '/passkeys/authentication/options'],
      ['POST', '/passkeys/authentication/verify'],
      ['GET', '/passkeys'],
      ['PATCH', `/passkeys/${crypto.randomUUID()}`],
      ['DELETE', `/passkeys/${crypto.randomUUID()}`],
    ] as const) {
      test(`${method} ${url.replace(/[0-9a-f-]{36}/, 'id')} returns 404 passkey_disabled`, async () => {
        const { app } = await serverFor()
        const response = await app.inject({ method, url, ...(method !== 'GET' && { payload: {} }) })
        assert.deepEqual(statusAndCode(response), [404, 'passkey_disabled'])
      })
    }

    test('GET /settings reports passkeys_enabled', async () => {
      const settings = async (env: Record<string, string>) =>
        (await call((await serverFor(env)).app, '/settings')).json()
      assert.equal((await settings({})).passkeys_enabled, false)
      assert.equal((await settings(passkeysOn)).passkeys_enabled, true)
    })
  })
})
