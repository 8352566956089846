/** Recovery codes over HTTP: generating, counting, using and deleting them. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { suite, test } from 'node:test'

import { verifySync } from '@node-rs/argon2'

import { asAdmin } from '../../../support/admin.ts'
import {
  addTotp,
  everyFactor,
  send,
  stepUp,
  tokenClaims,
  userWithTotp,
} from '../../../support/factors/factors.ts'
import {
  codeCount,
  factorsOn,
  makeCodes,
  ownUrl,
  remaining,
  remakeCodes,
  url,
  useCode,
  userWithRecoveryCodes,
} from '../../../support/factors/recovery-codes.ts'
import { serversOnOneDatabase, sharedServers } from '../../../support/processes/shared-servers.ts'
import { until } from '../../../support/processes/until.ts'
import { call, getUser, refresh, statusAndCode } from '../../../support/requests.ts'
import { anonymousUser, signedIn, signUpUser } from '../../../support/users.ts'

const insufficient = [403, 'insufficient_aal']
const failed = [422, 'mfa_verification_failed']

suite('recovery codes', () => {
  const serverFor = serversOnOneDatabase()
  /** Each has a database of its own: for queued mail, and for another encryption key. */
  const separateServerFor = sharedServers()

  test('generates ten base32 codes and stores Argon2id hashes in GoTrue’s form', async () => {
    const { app } = await serverFor(everyFactor)
    const { session, codes, setFactor } = await userWithRecoveryCodes(app)
    assert.equal(new Set(codes).size, 10)
    for (const code of codes) assert.match(code, /^[a-z2-7]{16}$/)
    assert.equal(await remaining(app, session), 10)
    const { rows } = await app.pool.query(
      `select code_hash, consumed_at, digest, key_id from auth.mfa_recovery_codes codes
        join auth.mfa_recovery_code_sets sets on sets.id = mfa_recovery_code_set_id
        left join auth.postern_recovery_code_digests on code_id = codes.id
        where sets.user_id = $1 and sets.mfa_factor_id = $2`,
      [session.user.id, setFactor],
    )
    assert.equal(rows.length, 10)
    const phc = /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/
    for (const { code_hash } of rows) assert.match(code_hash, phc)
    for (const code of codes) {
      assert.ok(!JSON.stringify(rows).includes(code))
      assert.equal(rows.filter(({ code_hash }) => verifySync(code_hash, code)).length, 1)
    }
  })

  test('generates codes of the configured count and length, with hash parameters of their own', async () => {
    const { app } = await serverFor({
      ...everyFactor,
      AUTH_MFA_RECOVERY_CODES_COUNT: '5',
      AUTH_MFA_RECOVERY_CODES_CODE_LENGTH: '32',
      AUTH_PASSWORD_ARGON2_MEMORY: '8192',
    })
    const { codes, session, low: aal1, first } = await userWithRecoveryCodes(app)
    assert.equal(codes.length, 5)
    for (const code of codes) assert.match(code, /^[a-z2-7]{32}$/)
    const { rows } = await app.pool.query('select code_hash from auth.mfa_recovery_codes')
    for (const { code_hash } of rows) assert.match(code_hash, /\$m=19456,t=2,p=1\$/)
    assert.equal((await useCode(app, aal1, first)).statusCode, 200)
    assert.equal(await remaining(app, session), 4)
  })

  test('steps the session up to aal2 once per code', async () => {
    const { app } = await serverFor(factorsOn)
    const { low: aal1, first, session: before, setFactor } = await userWithRecoveryCodes(app)
    const response = await useCode(app, aal1, first)
    assert.equal(response.statusCode, 200, response.body)
    const steppedUp = response.json()
    const { aal, amr, session_id } = tokenClaims(steppedUp)
    assert.deepEqual([aal, session_id], ['aal2', tokenClaims(aal1).session_id])
    assert.deepEqual(amr.map(({ method }) => method).sort(), ['mfa/recovery_code', 'password'])
    const stored = await app.pool.query('select aal, factor_id from auth.sessions where id = $1', [
      session_id,
    ])
    assert.deepEqual(stored.rows, [{ aal: 'aal2', factor_id: setFactor }])
    assert.equal(await remaining(app, steppedUp), codeCount - 1)
    assert.deepEqual(statusAndCode(await useCode(app, steppedUp, first)), failed)
    assert.equal((await getUser(app, before)).statusCode, 200, 'a session at aal2 stays')
    const next = await refresh(app, steppedUp.refresh_token)
    assert.equal(tokenClaims(next.json()).aal, 'aal2')
  })

  test('revokes other sessions below aal2 and accepts the previous refresh token as parent', async () => {
    const { app } = await serverFor(factorsOn)
    const { email, low: aal1, first } = await userWithRecoveryCodes(app)
    const other = await signedIn(app, email)
    assert.equal((await useCode(app, aal1, first)).statusCode, 200)
    assert.deepEqual(statusAndCode(await getUser(app, other)), [403, 'session_not_found'])
    const old = await refresh(app, aal1.refresh_token)
    assert.equal(tokenClaims(old.json()).aal, 'aal2')
  })

  test('allows adding a factor, removing the lost one and changing the password', async () => {
    const { app } = await serverFor(factorsOn)
    const { low: aal1, factor, first } = await userWithRecoveryCodes(app)
    const steppedUp = (await useCode(app, aal1, first)).json()
    const again = await stepUp(app, steppedUp, await addTotp(app, steppedUp, 'New phone'))
    const removed = await send(app, 'DELETE', `/factors/${factor.id}`, again)
    assert.equal(removed.statusCode, 200, removed.body)
    const { access_token: token } = again
    const password = `${crypto.randomUUID()} horse`
    const changed = await call(app, '/user', { password }, { method: 'PUT', token })
    assert.equal(changed.statusCode, 200, changed.body)
  })

  for (const [what, typed] of [
    ['in upper case', (code: string) => code.toUpperCase()],
    ['with hyphens', (code: string) => code.replace(/.{4}/g, '$&-')],
    ['with spaces, tabs and line breaks', (code: string) => ` ${[...code].join(' ')}\t\n\u00a0`],
  ] as const) {
    test(`accepts a code ${what}`, async () => {
      const { app } = await serverFor(factorsOn)
      const { low: aal1, first } = await userWithRecoveryCodes(app)
      assert.equal((await useCode(app, aal1, typed(first))).statusCode, 200)
    })
  }

  test('regenerates codes and invalidates the previous ones', async () => {
    const { app } = await serverFor(factorsOn)
    const { session, low: aal1, first } = await userWithRecoveryCodes(app)
    const made = await remakeCodes(app, session)
    assert.equal(made.statusCode, 200)
    assert.equal(await remaining(app, session), codeCount)
    assert.deepEqual(statusAndCode(await useCode(app, aal1, first)), failed)
    assert.equal((await useCode(app, aal1, made.json().codes[codeCount - 1])).statusCode, 200)
  })

  test('generates codes at aal2 only, and not for anonymous users', async () => {
    const anonymous = { AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true' }
    const { app } = await serverFor({ ...factorsOn, ...anonymous })
    const { low: aal1 } = await userWithRecoveryCodes(app)
    for (const make of [makeCodes, remakeCodes]) {
      assert.deepEqual(statusAndCode(await make(app, aal1)), insufficient)
      assert.deepEqual(statusAndCode(await make(app, await signUpUser(app))), insufficient)
    }
    const unknown = await anonymousUser(app)
    assert.deepEqual(statusAndCode(await makeCodes(app, unknown)), [403, 'no_authorization'])
    assert.deepEqual(statusAndCode(await useCode(app, unknown, 'x')), [403, 'no_authorization'])
  })

  test('generates codes only within AUTH_MFA_FRESHNESS', async (t) => {
    const { app } = await serverFor({
      ...factorsOn,
      AUTH_MFA_FRESHNESS: '10m',
      AUTH_SECURITY_FRESH_PROOF_MAX_AGE: '0',
    })
    const { session, factor } = await userWithRecoveryCodes(app)
    // The user has had the factor for longer than a day.
    await app.pool.query('delete from auth.postern_new_sign_in_methods')
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 700_000 })
    assert.deepEqual(statusAndCode(await remakeCodes(app, session)), insufficient)
    const again = await stepUp(app, session, factor)
    assert.equal((await remakeCodes(app, again)).statusCode, 200)
  })

  test('accepts a code of a user in AUTH_MFA_REQUIRED_ROLES', async () => {
    const { app } = await serverFor({ ...factorsOn, AUTH_MFA_REQUIRED_ROLES: 'authenticated' })
    const { low: aal1, first } = await userWithRecoveryCodes(app)
    const { access_token: token } = aal1
    assert.deepEqual(
      statusAndCode(await call(app, '/sessions', undefined, { token })),
      insufficient,
    )
    assert.deepEqual(statusAndCode(await makeCodes(app, aal1)), insufficient)
    assert.equal(await remaining(app, aal1), codeCount)
    const steppedUp = (await useCode(app, aal1, first)).json()
    const sessions = await call(app, '/sessions', undefined, { token: steppedUp.access_token })
    assert.equal(sessions.statusCode, 200)
  })

  test('notifies the user of new, used and deleted codes when configured', async () => {
    const { app, mail } = await separateServerFor({
      ...factorsOn,
      AUTH_MAILER_NOTIFICATIONS_MFA_FACTOR_ENROLLED_ENABLED: 'true',
      AUTH_MAILER_NOTIFICATIONS_MFA_FACTOR_UNENROLLED_ENABLED: 'true',
      AUTH_MAILER_NOTIFICATIONS_RECOVERY_CODE_USED_ENABLED: 'true',
    })
    const { email, session, low: aal1, first } = await userWithRecoveryCodes(app)
    await useCode(app, aal1, first)
    await remakeCodes(app, session)
    await send(app, 'DELETE', url, session)
    const sent = () => mail.messages.filter(({ to }) => to === email)
    // The fifth is that of the authenticator app.
    await until(() => sent().length === 5)
    const texts = sent().map(({ mail: { subject, text } }) => `${subject}: ${text}`)
    const matching = (pattern: RegExp) => texts.filter((text) => pattern.test(text)).length
    assert.equal(matching(/was added.*recovery codes\./s), 2)
    assert.equal(matching(new RegExp(`\\b${codeCount - 1} codes are left\\.`)), 1)
    assert.equal(matching(/removed.*recovery codes/s), 1)
  })

  test('notifies the user after three consecutive failures', async () => {
    const { app, mail } = await separateServerFor({
      ...factorsOn,
      AUTH_MAILER_NOTIFICATIONS_MFA_VERIFICATION_FAILED_ENABLED: 'true',
    })
    const { email, low: aal1 } = await userWithRecoveryCodes(app)
    const sent = () => mail.messages.filter(({ to }) => to === email)
    for (let i = 0; i < 2; i++) await useCode(app, aal1, 'a'.repeat(16))
    assert.deepEqual(sent(), [])
    await useCode(app, aal1, 'a'.repeat(16))
    await until(() => sent().length === 1)
  })

  test('generates codes only after a recent authentication', async (t) => {
    const { app } = await serverFor({ ...factorsOn, AUTH_SECURITY_FRESH_PROOF_MAX_AGE: '10m' })
    const { session } = await userWithRecoveryCodes(app)
    const other = await userWithTotp(app)
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 601_000 })
    const stale = [400, 'reauthentication_needed']
    assert.deepEqual(statusAndCode(await remakeCodes(app, session)), stale)
    assert.deepEqual(statusAndCode(await makeCodes(app, other.session)), stale)
    assert.equal(await remaining(app, session), codeCount)
  })

  test('writes audit log entries with GoTrue’s names, and none for failed attempts', async () => {
    const { app } = await serverFor(factorsOn)
    const { session, low: aal1, first, setFactor: factor_id } = await userWithRecoveryCodes(app)
    await useCode(app, aal1, 'a'.repeat(16))
    await useCode(app, aal1, first)
    await remakeCodes(app, session)
    await send(app, 'DELETE', url, session)
    const { rows } = await app.pool.query(
      `select payload, ip_address from auth.audit_log_entries
        where payload->>'actor_id' = $1 and payload->>'action' like 'recovery%' order by created_at`,
      [session.user.id],
    )
    assert.deepEqual(
      rows.map(({ payload: { action, log_type, traits } }) => [action, log_type, traits]),
      [
        ['recovery_codes_generated', 'factor', { factor_id, count: codeCount }],
        ['recovery_codes_verified', 'factor', { factor_id, remaining: codeCount - 1 }],
        ['recovery_codes_regenerated', 'factor', { factor_id, count: codeCount }],
        ['recovery_codes_deleted', 'factor', { factor_id }],
      ],
    )
    for (const { ip_address } of rows) assert.equal(ip_address, '127.0.0.1')
  })

  test('verifies codes after a change of the encryption key', async () => {
    const [key, other] = [randomBytes(32), randomBytes(32)].map((k) => k.toString('base64url'))
    assert.ok(key && other)
    const old = await separateServerFor({ ...factorsOn, AUTH_ENCRYPTION_KEY: key })
    const { email, first } = await userWithRecoveryCodes(old.app)
    const env = {
      ...factorsOn,
      DATABASE_URL: old.database.url,
      AUTH_ENCRYPTION_KEY: other,
      AUTH_ENCRYPTION_OLD_KEYS: key,
    }
    const { app } = await separateServerFor(env)
    assert.equal((await useCode(app, await signedIn(app, email), first)).statusCode, 200)
  })

  test('verifies a code by its hash when the digest key is not configured', async () => {
    const { app } = await serverFor(factorsOn)
    const { session, low: aal1, first } = await userWithRecoveryCodes(app)
    const { rowCount } = await app.pool.query(
      `update auth.postern_recovery_code_digests set digest = 'x', key_id = 'of another key'
        where code_id in (select codes.id from auth.mfa_recovery_codes codes
          join auth.mfa_recovery_code_sets sets on sets.id = mfa_recovery_code_set_id
          where user_id = $1)`,
      [session.user.id],
    )
    assert.equal(rowCount, codeCount)
    assert.deepEqual(statusAndCode(await useCode(app, aal1, 'a'.repeat(16))), failed)
    assert.equal((await useCode(app, aal1, first)).statusCode, 200)
  })

  test('lets an admin count and delete codes', async () => {
    const { app } = await serverFor(factorsOn)
    const { session, low: aal1, first } = await userWithRecoveryCodes(app)
    const admin = `/admin/users/${session.user.id}${ownUrl}`
    assert.deepEqual((await asAdmin(app, 'GET', admin)).json(), { remaining: codeCount })
    assert.equal((await asAdmin(app, 'DELETE', admin)).statusCode, 204)
    assert.deepEqual((await asAdmin(app, 'GET', admin)).json(), { remaining: 0 })
    assert.deepEqual(statusAndCode(await useCode(app, aal1, first)), failed)
    const unknownId = `/admin/users/${crypto.randomUUID()}${ownUrl}`
    for (const method of ['GET', 'DELETE'] as const) {
      assert.deepEqual(statusAndCode(await asAdmin(app, method, unknownId)), [
        404,
        'user_not_found',
      ])
    }
  })

  test('serves the same codes under /factors/recovery_codes', async () => {
    const { app } = await serverFor(factorsOn)
    const { session, low: aal1, first, setFactor } = await userWithRecoveryCodes(app)
    const { codes } = (await send(app, 'POST', ownUrl, session)).json()
    assert.deepEqual(statusAndCode(await useCode(app, aal1, first)), failed)
    const steppedUp = await send(app, 'POST', `${ownUrl}/verify`, aal1, { code: codes[0] })
    assert.equal(steppedUp.statusCode, 200, steppedUp.body)
    assert.deepEqual((await send(app, 'GET', url, session)).json(), {
      id: setFactor,
      type: 'recovery_code',
      total: codeCount,
      remaining: codeCount - 1,
    })
    await send(app, 'DELETE', url, session)
    assert.equal(await remaining(app, session), 0)
    assert.equal((await send(app, 'POST', ownUrl, session)).json().codes.length, codeCount)
  })
})
