/** Passkey authentication: the session and its assurance level. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../../schemas/session.ts'
import { asAdmin } from '../../support/admin.ts'
import type { Traits } from '../../support/factors/authenticator.ts'
import { assertExpiresAfter } from '../../support/factors/expiry.ts'
import { addTotp, everyFactor, stepUp, tokenClaims } from '../../support/factors/factors.ts'
import {
  addPasskey,
  bodyOf200,
  createAuthenticationChallenge,
  fetchPasskeys,
  finishSignIn,
  newDevice,
  passkeysOn,
  rpId,
  send,
  signInBy,
  tryPasskey,
  userWithPasskey,
} from '../../support/factors/passkeys.ts'
import { insertRecoveryCodes } from '../../support/factors/recovery-codes.ts'
import { serversOnOneDatabase } from '../../support/processes/shared-servers.ts'
import { call, getUser, refresh, statusAndCode } from '../../support/requests.ts'
import { adminCreatedUser, newAddress, newNumber, signUpUser } from '../../support/users.ts'

suite('passkey sign-in', () => {
  const serverFor = serversOnOneDatabase()

  suite('passkey authentication', () => {
    test('returns the same request options for each user', async () => {
      const { app } = await serverFor(passkeysOn)
      const since = Date.now()
      const { challenge_id, options, expires_at } = await createAuthenticationChallenge(app)
      assert.match(challenge_id, /^[0-9a-f-]{36}$/)
      assertExpiresAfter(300, expires_at, since)
      const { challenge, ...rest } = options
      assert.equal(Buffer.from(challenge, 'base64url').length, 32)
      assert.deepEqual(rest, { timeout: 300_000, rpId, userVerification: 'preferred' })
      assert.equal((await call(app, '/passkeys/authentication/options/', {})).statusCode, 404)
      const empty = await app.inject({ method: 'POST', url: '/passkeys/authentication/options' })
      assert.equal(empty.statusCode, 200, empty.body)
    })

    test('creates a session at aal1 with the amr passkey', async () => {
      const { app } = await serverFor(passkeysOn)
      const { user, device } = await userWithPasskey(app)
      const since = Date.now()
      const session = await signInBy(app, device)
      assert.equal(session.user.id, user.user.id)
      assert.equal(tokenClaims(session).aal, 'aal1')
      const getMethods = (token: Session) => tokenClaims(token).amr.map(({ method }) => method)
      assert.deepEqual(getMethods(session), ['passkey'])
      assert.equal((await getUser(app, session)).statusCode, 200)
      const [passkey] = await fetchPasskeys(app, session)
      assert.ok(Date.parse(passkey?.last_used_at ?? '') >= since)
      const next = bodyOf200<Session>(await refresh(app, session.refresh_token))
      assert.deepEqual(getMethods(next), ['passkey'])
    })

    test('writes an audit log entry', async () => {
      const { app } = await serverFor(passkeysOn)
      const { user, device, passkey } = await userWithPasskey(app)
      await signInBy(app, device)
      const rows = await app.db.selectFrom('audit_log_entries').select('payload').execute()
      const login = rows.map(({ payload }) => payload).findLast(({ action }) => action === 'login')
      assert.equal(login?.actor_id, user.user.id)
      assert.deepEqual(login?.traits, { provider: 'passkey', passkey_id: passkey.id })
    })

    test('accepts each of two passkeys', async () => {
      const { app } = await serverFor(passkeysOn)
      const { user, device } = await userWithPasskey(app, { counts: true })
      const other = await addPasskey(app, user)
      for (const each of [device, other.device, device]) {
        assert.equal((await signInBy(app, each)).user.id, user.user.id)
      }
    })

    const levels: [what: string, on: boolean, traits: Partial<Traits>, aal: string][] = [
      ['with user verification by default', false, { verifies: true }, 'aal1'],
      ['with user verification and AUTH_PASSKEY_AAL2', true, { verifies: true }, 'aal2'],
      ['without user verification and AUTH_PASSKEY_AAL2', true, { verifies: false }, 'aal1'],
    ]
    for (const [what, on, traits, aal] of levels) {
      test(`${what} creates an ${aal} session`, async () => {
        const { app } = await serverFor({ ...passkeysOn, AUTH_PASSKEY_AAL2: String(on) })
        const { device } = await userWithPasskey(app, traits)
        const session = await signInBy(app, device)
        const { aal: claimed, session_id } = tokenClaims(session)
        assert.equal(claimed, aal)
        const row = await app.db
          .selectFrom('sessions')
          .select('aal')
          .where('id', '=', String(session_id))
          .executeTakeFirst()
        assert.equal(row?.aal, aal)
      })
    }

    test('allows actions that require aal2 only at aal2', async () => {
      const level = { AUTH_PASSKEY_AAL2: 'true', AUTH_MFA_FRESHNESS: '10m' }
      const { app } = await serverFor({ ...everyFactor, ...passkeysOn, ...level })
      const user = await signUpUser(app)
      const [sure, unsure] = [newDevice(), newDevice({ verifies: false })]
      await addPasskey(app, user, sure)
      await addPasskey(app, user, unsure)
      await stepUp(app, user, await addTotp(app, user))
      const change = async (session: Session) =>
        send(app, 'PUT', '/user', session, { password: `${crypto.randomUUID()} horse` })
      const rejected = await change(await signInBy(app, unsure))
      assert.deepEqual(statusAndCode(rejected), [401, 'insufficient_aal'])
      assert.equal((await change(await signInBy(app, sure))).statusCode, 200)
    })

    test('accepts a passkey stored by GoTrue', async () => {
      const { app } = await serverFor(passkeysOn)
      const { user } = await signUpUser(app)
      const device = newDevice({ counts: true })
      device.create({ challenge: '', user: { id: Buffer.from(user.id).toString('base64url') } })
      await app.pool.query(
        `insert into auth.webauthn_credentials (user_id, credential_id, public_key, attestation_type,
         aaguid, sign_count, transports, backup_eligible, backed_up, friendly_name)
       values ($1, $2, $3, 'none', null, 0, '["internal"]', true, false, '')`,
        [user.id, Buffer.from(device.id, 'base64url'), device.publicKey],
      )
      const session = await signInBy(app, device)
      assert.equal(session.user.id, user.id)
      const [passkey] = await fetchPasskeys(app, session)
      assert.equal(passkey?.friendly_name, undefined)
    })

    test('accepts a response to a challenge stored by GoTrue', async () => {
      const { app } = await serverFor(passkeysOn)
      const { device } = await userWithPasskey(app)
      const [id, challenge] = [crypto.randomUUID(), Buffer.alloc(32, 7).toString('base64url')]
      const data = {
        challenge,
        rpId,
        user_id: null,
        expires: '0001-01-01T00:00:00Z',
        extensions: {},
      }
      await app.pool.query(
        `insert into auth.webauthn_challenges (id, challenge_type, session_data, expires_at)
       values ($1, 'authentication', $2, now() + interval '5 minutes')`,
        [id, JSON.stringify(data)],
      )
      const body = { challenge_id: id, credential: device.get({ challenge }) }
      assert.equal((await finishSignIn(app, body)).statusCode, 200)
    })

    test('stores a challenge as GoTrue does', async () => {
      const { app } = await serverFor(passkeysOn)
      const { challenge_id, options } = await createAuthenticationChallenge(app)
      const row = await app.db
        .selectFrom('webauthn_challenges')
        .selectAll()
        .where('id', '=', challenge_id)
        .executeTakeFirstOrThrow()
      assert.deepEqual([row.user_id, row.challenge_type], [null, 'authentication'])
      assert.deepEqual(row.session_data, {
        challenge: options.challenge,
        rpId,
        user_id: null,
        expires: row.expires_at.toISOString(),
        userVerification: 'preferred',
      })
    })

    test('requires a captcha when enabled', async () => {
      const captcha = {
        AUTH_SECURITY_CAPTCHA_ENABLED: 'true',
        AUTH_SECURITY_CAPTCHA_PROVIDER: 'turnstile',
        AUTH_SECURITY_CAPTCHA_SECRET: 'secret',
      }
      const { app } = await serverFor({ ...passkeysOn, ...captcha })
      const response = await call(app, '/passkeys/authentication/options', {})
      assert.deepEqual(statusAndCode(response), [400, 'captcha_failed'])
    })

    test('AUTH_RATE_LIMIT_PASSKEY limits requests per address', async () => {
      const limit = { AUTH_RATE_LIMIT_HEADER: 'x-real-ip', AUTH_RATE_LIMIT_PASSKEY: '3' }
      const { app } = await serverFor({ ...passkeysOn, ...limit })
      const send = (ip: string) =>
        call(app, '/passkeys/authentication/options', {}, { headers: { 'x-real-ip': ip } })
      for (let i = 0; i < 3; i++) assert.equal((await send('203.0.113.7')).statusCode, 200)
      assert.deepEqual(statusAndCode(await send('203.0.113.7')), [429, 'over_request_rate_limit'])
      assert.equal((await send('203.0.113.8')).statusCode, 200)
    })
  })

  suite('passkey of a user who cannot sign in', () => {
    const reasons: [what: string, change: object, rejection: [number, string]][] = [
      ['banned', { banned_until: new Date(Date.now() + 3_600_000) }, [403, 'user_banned']],
      ['with an unconfirmed email', { email_confirmed_at: null }, [403, 'email_not_confirmed']],
      [
        'with an unconfirmed phone',
        { phone: newNumber(), phone_confirmed_at: null },
        [403, 'phone_not_confirmed'],
      ],
      ['deleted, with a remaining passkey', { deleted_at: new Date() }, rejected()],
    ]

    for (const [what, change, rejection] of reasons) {
      test(`returns ${rejection[1]} and creates no session: ${what}`, async () => {
        const { app } = await serverFor(passkeysOn)
        const { user, device } = await userWithPasskey(app)
        const { id } = user.user
        await app.db.updateTable('users').set(change).where('id', '=', id).execute()
        const sessions = () =>
          app.db.selectFrom('sessions').select('id').where('user_id', '=', id).execute()
        const before = await sessions()
        assert.deepEqual(statusAndCode(await tryPasskey(app, device)), rejection)
        assert.deepEqual(await sessions(), before)
        const [passkey] = await app.db
          .selectFrom('webauthn_credentials')
          .select('last_used_at')
          .where('user_id', '=', id)
          .execute()
        assert.equal(passkey?.last_used_at, null)
      })
    }

    for (const soft of [true, false]) {
      test(`is deleted with the ${soft ? 'softly ' : ''}deleted user, with recovery codes`, async () => {
        const { app } = await serverFor(passkeysOn)
        const { user, device } = await userWithPasskey(app)
        const { id } = user.user
        await insertRecoveryCodes(app, id)
        const body = { should_soft_delete: soft }
        assert.equal((await asAdmin(app, 'DELETE', `/admin/users/${id}`, body)).statusCode, 200)
        assert.deepEqual(statusAndCode(await tryPasskey(app, device)), rejected())
        for (const table of ['webauthn_credentials', 'mfa_recovery_code_sets'] as const) {
          const left = await app.db
            .selectFrom(table)
            .select('user_id')
            .where('user_id', '=', id)
            .execute()
          assert.deepEqual(left, [], table)
        }
      })
    }

    test('signs in an unconfirmed user when allowed', async () => {
      const unverified = {
        AUTH_MAILER_AUTOCONFIRM: 'false',
        AUTH_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS: 'true',
      }
      const { app } = await serverFor({ ...passkeysOn, ...unverified })
      const email = newAddress()
      const password = 'correct horse battery'
      const { id } = await adminCreatedUser(app, { email, password })
      const session = bodyOf200<Session>(
        await call(app, '/token?grant_type=password', { email, password }),
      )
      const { device } = await addPasskey(app, session)
      assert.equal((await signInBy(app, device)).user.id, id)
    })
  })
})

function rejected(): [number, string] {
  return [400, 'webauthn_verification_failed']
}
