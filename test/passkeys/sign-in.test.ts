/** Signing in with a passkey: the session it opens, and how much it counts for. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../schemas/session.ts'
import { asAdmin } from '../support/admin.ts'
import type { Traits } from '../support/authenticator.ts'
import { addTotp, claimsOf, everyFactor, prove } from '../support/factors.ts'
import {
  addPasskey,
  answerOf,
  askForSignIn,
  finishSignIn,
  newDevice,
  passkeysOf,
  passkeysOn,
  rpId,
  send,
  signInBy,
  tryPasskey,
  withPasskey,
} from '../support/passkeys.ts'
import { createdPerson, newAddress, newNumber, newPerson } from '../support/people.ts'
import { call, getUser, outcomeOf, refresh } from '../support/requests.ts'
import { sharedServers } from '../support/shared-servers.ts'

suite('signing in with a passkey', () => {
  const serverFor = sharedServers()

  test('the browser is told what to ask, the same for everybody', async () => {
    const { app } = await serverFor(passkeysOn)
    const { challenge_id, options, expires_at } = await askForSignIn(app)
    assert.match(challenge_id, /^[0-9a-f-]{36}$/)
    assert.ok(Math.abs(expires_at - Date.now() / 1000 - 300) < 5)
    const { challenge, ...rest } = options
    assert.equal(Buffer.from(challenge, 'base64url').length, 32)
    assert.deepEqual(rest, { timeout: 300_000, rpId, userVerification: 'preferred' })
    assert.equal((await call(app, '/passkeys/authentication/options/', {})).statusCode, 404)
    const empty = await app.inject({ method: 'POST', url: '/passkeys/authentication/options' })
    assert.equal(empty.statusCode, 200, empty.body)
  })

  test('opens a session of its person at aal1, by passkey', async () => {
    const { app } = await serverFor(passkeysOn)
    const { person, device } = await withPasskey(app)
    const session = await signInBy(app, device)
    assert.equal(session.user.id, person.user.id)
    assert.equal(claimsOf(session).aal, 'aal1')
    const methodsOf = (token: Session) => claimsOf(token).amr.map(({ method }) => method)
    assert.deepEqual(methodsOf(session), ['passkey'])
    assert.equal((await getUser(app, session)).statusCode, 200)
    const [passkey] = await passkeysOf(app, session)
    assert.ok(Date.now() - Date.parse(passkey?.last_used_at ?? '') < 60_000)
    const next = answerOf<Session>(await refresh(app, session.refresh_token))
    assert.deepEqual(methodsOf(next), ['passkey'])
  })

  test('is in the audit trail', async () => {
    const { app } = await serverFor(passkeysOn)
    const { person, device, passkey } = await withPasskey(app)
    await signInBy(app, device)
    const rows = await app.db.selectFrom('audit_log_entries').select('payload').execute()
    const login = rows.map(({ payload }) => payload).findLast(({ action }) => action === 'login')
    assert.equal(login?.actor_id, person.user.id)
    assert.deepEqual(login?.traits, { provider: 'passkey', passkey_id: passkey.id })
  })

  test('with two devices, each signs in', async () => {
    const { app } = await serverFor(passkeysOn)
    const { person, device } = await withPasskey(app, { counts: true })
    const other = await addPasskey(app, person)
    for (const each of [device, other.device, device]) {
      assert.equal((await signInBy(app, each)).user.id, person.user.id)
    }
  })

  const levels: [what: string, on: boolean, traits: Partial<Traits>, aal: string][] = [
    ['which verified its person, by default', false, { verifies: true }, 'aal1'],
    ['which verified its person, with AUTH_PASSKEY_AAL2', true, { verifies: true }, 'aal2'],
    ['which did not, with AUTH_PASSKEY_AAL2', true, { verifies: false }, 'aal1'],
  ]
  for (const [what, on, traits, aal] of levels) {
    test(`by a device ${what}: ${aal}, in token and row`, async () => {
      const { app } = await serverFor({ ...passkeysOn, AUTH_PASSKEY_AAL2: String(on) })
      const { device } = await withPasskey(app, traits)
      const session = await signInBy(app, device)
      const { aal: claimed, session_id } = claimsOf(session)
      assert.equal(claimed, aal)
      const row = await app.db
        .selectFrom('sessions')
        .select('aal')
        .where('id', '=', String(session_id))
        .executeTakeFirst()
      assert.equal(row?.aal, aal)
    })
  }

  test('at aal2 it does what a second factor guards; at aal1 it does not', async () => {
    const level = { AUTH_PASSKEY_AAL2: 'true', AUTH_MFA_FRESHNESS: '10m' }
    const { app } = await serverFor({ ...everyFactor, ...passkeysOn, ...level })
    const person = await newPerson(app)
    const [sure, unsure] = [newDevice(), newDevice({ verifies: false })]
    await addPasskey(app, person, sure)
    await addPasskey(app, person, unsure)
    await prove(app, person, await addTotp(app, person))
    const change = async (session: Session) =>
      send(app, 'PUT', '/user', session, { password: `${crypto.randomUUID()} horse` })
    const refused = await change(await signInBy(app, unsure))
    assert.deepEqual(outcomeOf(refused), [401, 'insufficient_aal'])
    assert.equal((await change(await signInBy(app, sure))).statusCode, 200)
  })

  test('a row that GoTrue made signs in', async () => {
    const { app } = await serverFor(passkeysOn)
    const { user } = await newPerson(app)
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
    const [passkey] = await passkeysOf(app, session)
    assert.equal(passkey?.friendly_name, undefined)
  })

  test('a challenge that GoTrue made is answered', async () => {
    const { app } = await serverFor(passkeysOn)
    const { device } = await withPasskey(app)
    const [id, challenge] = [crypto.randomUUID(), Buffer.alloc(32, 7).toString('base64url')]
    const data = { challenge, rpId, user_id: null, expires: '0001-01-01T00:00:00Z', extensions: {} }
    await app.pool.query(
      `insert into auth.webauthn_challenges (id, challenge_type, session_data, expires_at)
       values ($1, 'authentication', $2, now() + interval '5 minutes')`,
      [id, JSON.stringify(data)],
    )
    const body = { challenge_id: id, credential: device.get({ challenge }) }
    assert.equal((await finishSignIn(app, body)).statusCode, 200)
  })

  test('a challenge is stored as GoTrue stores it', async () => {
    const { app } = await serverFor(passkeysOn)
    const { challenge_id, options } = await askForSignIn(app)
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

  test('a captcha is asked for where it is on', async () => {
    const captcha = {
      AUTH_SECURITY_CAPTCHA_ENABLED: 'true',
      AUTH_SECURITY_CAPTCHA_PROVIDER: 'turnstile',
      AUTH_SECURITY_CAPTCHA_SECRET: 'secret',
    }
    const { app } = await serverFor({ ...passkeysOn, ...captcha })
    const answer = await call(app, '/passkeys/authentication/options', {})
    assert.deepEqual(outcomeOf(answer), [400, 'captcha_failed'])
  })

  test('one address may ask so often', async () => {
    const limit = { AUTH_RATE_LIMIT_HEADER: 'x-real-ip', AUTH_RATE_LIMIT_PASSKEY: '3' }
    const { app } = await serverFor({ ...passkeysOn, ...limit })
    const ask = (ip: string) =>
      call(app, '/passkeys/authentication/options', {}, { headers: { 'x-real-ip': ip } })
    for (let i = 0; i < 3; i++) assert.equal((await ask('203.0.113.7')).statusCode, 200)
    assert.deepEqual(outcomeOf(await ask('203.0.113.7')), [429, 'over_request_rate_limit'])
    assert.equal((await ask('203.0.113.8')).statusCode, 200)
  })
})

suite('somebody who may not come in', () => {
  const serverFor = sharedServers()
  const reasons: [what: string, change: object, refusal: [number, string]][] = [
    ['banned', { banned_until: new Date(Date.now() + 3_600_000) }, [403, 'user_banned']],
    ['with an unconfirmed address', { email_confirmed_at: null }, [403, 'email_not_confirmed']],
    [
      'with an unconfirmed number',
      { phone: newNumber(), phone_confirmed_at: null },
      [403, 'phone_not_confirmed'],
    ],
    ['deleted, their passkey left', { deleted_at: new Date() }, refused()],
  ]

  for (const [what, change, refusal] of reasons) {
    test(`${what}: ${refusal[1]}, and no session`, async () => {
      const { app } = await serverFor(passkeysOn)
      const { person, device } = await withPasskey(app)
      const { id } = person.user
      await app.db.updateTable('users').set(change).where('id', '=', id).execute()
      const sessions = () =>
        app.db.selectFrom('sessions').select('id').where('user_id', '=', id).execute()
      const before = await sessions()
      assert.deepEqual(outcomeOf(await tryPasskey(app, device)), refusal)
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
    test(`${soft ? 'softly ' : ''}deleted: their passkeys and codes are gone`, async () => {
      const { app } = await serverFor(passkeysOn)
      const { person, device } = await withPasskey(app)
      const { id } = person.user
      const code = { user_id: id, code_hash: crypto.randomUUID(), created_at: new Date() }
      await app.db.insertInto('postern_recovery_codes').values(code).execute()
      const body = { should_soft_delete: soft }
      assert.equal((await asAdmin(app, 'DELETE', `/admin/users/${id}`, body)).statusCode, 200)
      assert.deepEqual(outcomeOf(await tryPasskey(app, device)), refused())
      for (const table of ['webauthn_credentials', 'postern_recovery_codes'] as const) {
        const left = await app.db
          .selectFrom(table)
          .select('user_id')
          .where('user_id', '=', id)
          .execute()
        assert.deepEqual(left, [], table)
      }
    })
  }

  test('unproven addresses that may sign in do so by passkey as well', async () => {
    const unproven = {
      AUTH_MAILER_AUTOCONFIRM: 'false',
      AUTH_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS: 'true',
    }
    const { app } = await serverFor({ ...passkeysOn, ...unproven })
    const email = newAddress()
    const password = 'correct horse battery'
    const { id } = await createdPerson(app, { email, password })
    const session = answerOf<Session>(
      await call(app, '/token?grant_type=password', { email, password }),
    )
    const { device } = await addPasskey(app, session)
    assert.equal((await signInBy(app, device)).user.id, id)
  })
})

function refused(): [number, string] {
  return [400, 'webauthn_verification_failed']
}
