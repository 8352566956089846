/** Recovery codes over HTTP: making, counting, using and voiding them. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { suite, test } from 'node:test'

import { asAdmin } from '../support/admin.ts'
import { ask, claimsOf, prove } from '../support/factors.ts'
import { anonymousPerson, newPerson, signedIn } from '../support/people.ts'
import {
  factorsOn,
  makeCodes,
  remaining,
  url,
  useCode,
  withCodes,
} from '../support/recovery-codes.ts'
import { call, getUser, outcomeOf, refresh } from '../support/requests.ts'
import { sharedServers } from '../support/shared-servers.ts'

const insufficient = [403, 'insufficient_aal']
const failed = [422, 'mfa_verification_failed']

suite('recovery codes', () => {
  const serverFor = sharedServers()

  test('ten are made, each of its own, and nothing of them is stored but hashes', async () => {
    const { app } = await serverFor(factorsOn)
    const { session, codes } = await withCodes(app)
    assert.equal(new Set(codes).size, 10)
    for (const code of codes) assert.match(code, /^[0-9a-hjkmnp-tv-z]{5}-[0-9a-hjkmnp-tv-z]{5}$/)
    assert.equal(await remaining(app, session), 10)
    const rows = await app.db
      .selectFrom('postern_recovery_codes')
      .selectAll()
      .where('user_id', '=', session.user.id)
      .execute()
    const stored = JSON.stringify(rows)
    for (const code of codes) {
      assert.ok(!stored.includes(code) && !stored.includes(code.replace('-', '')))
    }
  })

  test('one raises the session to aal2, once', async () => {
    const { app } = await serverFor(factorsOn)
    const { low, first, session: before } = await withCodes(app)
    const response = await useCode(app, low, first)
    assert.equal(response.statusCode, 200, response.body)
    const raised = response.json()
    const { aal, amr, session_id } = claimsOf(raised)
    assert.deepEqual([aal, session_id], ['aal2', claimsOf(low).session_id])
    assert.deepEqual(amr.map(({ method }) => method).sort(), ['password', 'recovery_code'])
    assert.equal(await remaining(app, raised), 9)
    assert.deepEqual(outcomeOf(await useCode(app, raised, first)), failed)
    assert.equal((await getUser(app, before)).statusCode, 200, 'a session at aal2 stays')
    const next = await refresh(app, raised.refresh_token)
    assert.equal(claimsOf(next.json()).aal, 'aal2')
  })

  test('other sessions below aal2 end, and the refresh token from before is no good', async () => {
    const { app } = await serverFor(factorsOn)
    const { email, low, first } = await withCodes(app)
    const other = await signedIn(app, email)
    assert.equal((await useCode(app, low, first)).statusCode, 200)
    assert.deepEqual(outcomeOf(await getUser(app, other)), [403, 'session_not_found'])
    const old = await refresh(app, low.refresh_token)
    assert.deepEqual(outcomeOf(old), [400, 'refresh_token_already_used'])
  })

  test('a factor that had raised the session before still lowers it when it is removed', async () => {
    const { app } = await serverFor(factorsOn)
    const { factor, session, first } = await withCodes(app)
    const used = (await useCode(app, session, first)).json()
    await ask(app, 'DELETE', `/factors/${factor.id}`, used)
    assert.equal(claimsOf((await refresh(app, used.refresh_token)).json()).aal, 'aal1')
  })

  test('with it, what a second factor guards may be done: another factor, a new password', async () => {
    const { app } = await serverFor(factorsOn)
    const { low, factor, first } = await withCodes(app)
    const raised = (await useCode(app, low, first)).json()
    const { access_token: token } = raised
    const removed = await app.inject({
      method: 'DELETE',
      url: `/factors/${factor.id}`,
      headers: { authorization: `Bearer ${token}` },
    })
    assert.equal(removed.statusCode, 200, removed.body)
    const password = `${crypto.randomUUID()} horse`
    const changed = await call(app, '/user', { password }, { method: 'PUT', token })
    assert.equal(changed.statusCode, 200, changed.body)
  })

  for (const [what, typed] of [
    ['in capitals', (code: string) => code.toUpperCase()],
    ['without the hyphen', (code: string) => code.replace('-', '')],
    ['in pieces', (code: string) => ` ${[...code].join(' ')} `],
    ['with letters for digits', (code: string) => code.replaceAll('0', 'O').replaceAll('1', 'l')],
  ] as const) {
    test(`typed ${what}`, async () => {
      const { app } = await serverFor(factorsOn)
      const { low, first } = await withCodes(app)
      assert.equal((await useCode(app, low, typed(first))).statusCode, 200)
    })
  }

  test('new ones void those from before', async () => {
    const { app } = await serverFor(factorsOn)
    const { session, low, first } = await withCodes(app)
    const made = await makeCodes(app, session)
    assert.equal(made.statusCode, 200)
    assert.equal(await remaining(app, session), 10)
    assert.deepEqual(outcomeOf(await useCode(app, low, first)), failed)
    assert.equal((await useCode(app, low, made.json().codes[9])).statusCode, 200)
  })

  test('are made at aal2 only, factor or not, and not by somebody anonymous', async () => {
    const anonymous = { AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true' }
    const { app } = await serverFor({ ...factorsOn, ...anonymous })
    const { low } = await withCodes(app)
    assert.deepEqual(outcomeOf(await makeCodes(app, low)), insufficient)
    assert.deepEqual(outcomeOf(await makeCodes(app, await newPerson(app))), insufficient)
    const nobody = await anonymousPerson(app)
    assert.deepEqual(outcomeOf(await makeCodes(app, nobody)), [403, 'no_authorization'])
    assert.deepEqual(outcomeOf(await useCode(app, nobody, 'x')), [403, 'no_authorization'])
  })

  test('are made soon after a proof where AUTH_MFA_FRESHNESS asks for it', async (t) => {
    const { app } = await serverFor({ ...factorsOn, AUTH_MFA_FRESHNESS: '10m' })
    const { session, factor } = await withCodes(app)
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 700_000 })
    assert.deepEqual(outcomeOf(await makeCodes(app, session)), insufficient)
    const again = await prove(app, session, factor)
    assert.equal((await makeCodes(app, again)).statusCode, 200)
  })

  test('open to whoever owes the factor that their role demands', async () => {
    const { app } = await serverFor({ ...factorsOn, AUTH_MFA_REQUIRED_ROLES: 'authenticated' })
    const { low, first } = await withCodes(app)
    const { access_token: token } = low
    assert.deepEqual(outcomeOf(await call(app, '/sessions', undefined, { token })), insufficient)
    assert.deepEqual(outcomeOf(await makeCodes(app, low)), insufficient)
    assert.equal(await remaining(app, low), 10)
    const raised = (await useCode(app, low, first)).json()
    const sessions = await call(app, '/sessions', undefined, { token: raised.access_token })
    assert.equal(sessions.statusCode, 200)
  })

  test('a code is not asked for in vain', async () => {
    const { app } = await serverFor(factorsOn)
    const { low } = await withCodes(app)
    assert.deepEqual(outcomeOf(await useCode(app, low, '')), [400, 'validation_failed'])
    const { access_token: token } = low
    const none = await call(app, `${url}/verify`, {}, { token })
    assert.deepEqual(outcomeOf(none), [400, 'validation_failed'])
  })

  test('a use is told by mail where that is on, and is in the audit trail', async () => {
    const telling = { AUTH_MAILER_NOTIFICATIONS_RECOVERY_CODE_USED_ENABLED: 'true' }
    const { app, mail } = await serverFor({ ...factorsOn, ...telling })
    const { email, session, low, first } = await withCodes(app)
    await useCode(app, low, first)
    const told = await mail.waitFor(email)
    assert.equal(told.mail.subject, 'A recovery code of your account was used')
    assert.match(told.mail.text ?? '', /9 codes are left\./)
    const rows = await app.db.selectFrom('audit_log_entries').select('payload').execute()
    const entries = rows
      .map(({ payload }) => payload)
      .filter(({ actor_id, action }) => actor_id === session.user.id && /recovery/.test(action))
      .map(({ action, log_type, traits }) => [action, log_type, traits])
    assert.deepEqual(entries, [
      ['recovery_codes_created', 'factor', undefined],
      ['recovery_code_used', 'factor', { remaining: 9 }],
    ])
  })

  test('work on after the encryption key was replaced', async () => {
    const [key, other] = [randomBytes(32), randomBytes(32)].map((k) => k.toString('base64url'))
    assert.ok(key && other)
    const old = await serverFor({ ...factorsOn, AUTH_ENCRYPTION_KEY: key })
    const { email, first } = await withCodes(old.app)
    const env = {
      ...factorsOn,
      DATABASE_URL: old.database.url,
      AUTH_ENCRYPTION_KEY: other,
      AUTH_ENCRYPTION_OLD_KEYS: key,
    }
    const { app } = await serverFor(env)
    assert.equal((await useCode(app, await signedIn(app, email), first)).statusCode, 200)
  })

  test('an admin sees how many are left, and voids them', async () => {
    const { app } = await serverFor(factorsOn)
    const { session, low, first } = await withCodes(app)
    const admin = `/admin/users/${session.user.id}${url}`
    assert.deepEqual((await asAdmin(app, 'GET', admin)).json(), { remaining: 10 })
    assert.equal((await asAdmin(app, 'DELETE', admin)).statusCode, 204)
    assert.deepEqual((await asAdmin(app, 'GET', admin)).json(), { remaining: 0 })
    assert.deepEqual(outcomeOf(await useCode(app, low, first)), failed)
    const nobody = `/admin/users/${crypto.randomUUID()}${url}`
    for (const method of ['GET', 'DELETE'] as const) {
      assert.deepEqual(outcomeOf(await asAdmin(app, method, nobody)), [404, 'user_not_found'])
    }
  })
})
