/** Responses of /factors/recovery-codes and of the other factor routes, as GoTrue 2.197. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { asAdmin } from '../../../support/admin.ts'
import { addTotp, everyFactor, send, userWithTotp } from '../../../support/factors/factors.ts'
import {
  codeCount,
  factorsOn,
  makeCodes,
  remakeCodes,
  url,
  useCode,
  userWithRecoveryCodes,
} from '../../../support/factors/recovery-codes.ts'
import { serversOnOneDatabase } from '../../../support/processes/shared-servers.ts'
import { call, getUser, refresh, statusAndCode } from '../../../support/requests.ts'
import { signedIn } from '../../../support/users.ts'

const off = {
  AUTH_MFA_RECOVERY_CODES_ENROLL_ENABLED: 'false',
  AUTH_MFA_RECOVERY_CODES_VERIFY_ENABLED: 'false',
}
const missing = [404, 'mfa_factor_not_found']
const insufficient = [403, 'insufficient_aal']

suite('recovery code factor', () => {
  const serverFor = serversOnOneDatabase()

  test('generates a verified factor and returns its id, name and codes', async () => {
    const { app } = await serverFor(everyFactor)
    const { session } = await userWithTotp(app)
    const { codes, ...set } = (await makeCodes(app, session, { friendly_name: 'Paper' })).json()
    const type = 'recovery_code'
    assert.deepEqual(set, { id: set.id, type, friendly_name: 'Paper', total: 10 })
    assert.equal(codes.length, 10)
    const { factors } = (await getUser(app, session)).json()
    const { created_at, updated_at, ...factor } = factors.at(-1)
    assert.ok(created_at && updated_at)
    assert.deepEqual(factor, {
      id: set.id,
      friendly_name: 'Paper',
      factor_type: type,
      status: 'verified',
      phone: '',
      last_challenged_at: null,
    })
    const seen = await asAdmin(app, 'GET', `/admin/users/${session.user.id}/factors`)
    assert.deepEqual(seen.json().at(-1), factors.at(-1))
  })

  for (const [what, body] of [
    ['a request without a body', undefined],
    ['a request without a name', {}],
    ['a blank name', { friendly_name: '  ' }],
  ] as const) {
    test(`uses a default name for ${what}`, async () => {
      const { app } = await serverFor(factorsOn)
      const { session } = await userWithTotp(app)
      const headers = { authorization: `Bearer ${session.access_token}` }
      const payload = body && { payload: body }
      const made = await app.inject({ method: 'POST', url, headers, ...payload })
      assert.equal(made.json().friendly_name, 'Recovery codes', made.body)
    })
  }

  test('rejects a second set, a taken name and a set above the factor limit', async () => {
    const { app } = await serverFor({ ...factorsOn, AUTH_MFA_MAX_ENROLLED_FACTORS: '2' })
    const { session } = await userWithRecoveryCodes(app)
    const exists = await makeCodes(app, session)
    assert.deepEqual(statusAndCode(exists), [422, 'mfa_verified_factor_exists'])
    const another = { factor_type: 'totp', friendly_name: 'Another' }
    const more = await send(app, 'POST', '/factors', session, another)
    assert.deepEqual(statusAndCode(more), [422, 'too_many_enrolled_mfa_factors'])

    const other = await userWithTotp(app)
    await addTotp(app, other.session, 'Paper')
    const taken = await makeCodes(app, other.session, { friendly_name: 'Paper' })
    assert.deepEqual(statusAndCode(taken), [422, 'mfa_factor_name_conflict'])
    const full = await makeCodes(app, other.session)
    assert.deepEqual(statusAndCode(full), [422, 'too_many_enrolled_mfa_factors'])
  })

  test('rejects a set when no other factor can be verified', async () => {
    const { app } = await serverFor(factorsOn)
    const { session } = await userWithTotp(app)
    const { app: without } = await serverFor({
      ...factorsOn,
      AUTH_MFA_TOTP_VERIFY_ENABLED: 'false',
    })
    const made = await makeCodes(without, session)
    assert.deepEqual(statusAndCode(made), [422, 'mfa_recovery_codes_sole_factor'])
  })

  test('responds to malformed JSON with bad_json', async () => {
    const { app } = await serverFor(factorsOn)
    const { session, low: aal1 } = await userWithRecoveryCodes(app)
    for (const [path, { access_token }] of [
      [url, session],
      [`${url}/verify`, aal1],
    ] as const) {
      const headers = {
        authorization: `Bearer ${access_token}`,
        'content-type': 'application/json',
      }
      const wrong = await app.inject({ method: 'POST', url: path, headers, payload: '{' })
      assert.deepEqual(statusAndCode(wrong), [400, 'bad_json'], path)
    }
    const headers = { authorization: `Bearer ${aal1.access_token}` }
    const empty = await app.inject({ method: 'POST', url: `${url}/verify`, headers })
    assert.deepEqual(statusAndCode(empty), [400, 'bad_json'])
    for (const code of ['', ' - ', undefined]) {
      const { access_token: token } = aal1
      const none = await call(app, `${url}/verify`, { code }, { token })
      assert.deepEqual(statusAndCode(none), [400, 'validation_failed'])
    }
  })

  test('while disabled, rejects generation and verification and allows counting and deletion', async () => {
    const on = await serverFor(factorsOn)
    const { session, low: aal1, first, setFactor } = await userWithRecoveryCodes(on.app)
    const { app } = await serverFor({ ...factorsOn, ...off })
    const noEnroll = [422, 'mfa_recovery_codes_enroll_not_enabled']
    assert.deepEqual(statusAndCode(await makeCodes(app, session)), noEnroll)
    assert.deepEqual(statusAndCode(await remakeCodes(app, aal1)), noEnroll)
    const noVerify = [422, 'mfa_recovery_codes_verify_not_enabled']
    assert.deepEqual(statusAndCode(await useCode(app, aal1, first)), noVerify)
    const headers = {
      authorization: `Bearer ${aal1.access_token}`,
      'content-type': 'application/json',
    }
    for (const [path, outcome] of [
      [url, noEnroll],
      [`${url}/verify`, noVerify],
    ] as const) {
      const wrong = await app.inject({ method: 'POST', url: path, headers, payload: '{' })
      assert.deepEqual(statusAndCode(wrong), outcome, `${path} before its body`)
    }
    assert.equal((await send(app, 'GET', url, aal1)).json().remaining, codeCount)
    assert.deepEqual((await send(app, 'DELETE', url, session)).json(), { id: setFactor })
  })

  test('returns mfa_factor_not_found without codes, and mfa_verification_failed for verify', async () => {
    const { app } = await serverFor(factorsOn)
    const { session } = await userWithTotp(app)
    assert.deepEqual(statusAndCode(await send(app, 'GET', url, session)), missing)
    assert.deepEqual(statusAndCode(await remakeCodes(app, session)), missing)
    assert.deepEqual(statusAndCode(await send(app, 'DELETE', url, session)), missing)
    const used = await useCode(app, session, 'a'.repeat(16))
    assert.deepEqual(statusAndCode(used), [422, 'mfa_verification_failed'])
  })

  test('keeps the factor after the last code, and its id and name when regenerated', async () => {
    const { app } = await serverFor(factorsOn)
    const { session, codes, low: aal1, setFactor } = await userWithRecoveryCodes(app)
    let current: { access_token: string } = aal1
    for (const code of codes) current = (await useCode(app, current, code)).json()
    const status = (await send(app, 'GET', url, current)).json()
    assert.deepEqual(status, {
      id: setFactor,
      type: 'recovery_code',
      total: codeCount,
      remaining: 0,
    })
    const { id, friendly_name, total } = (await remakeCodes(app, session)).json()
    assert.deepEqual([id, friendly_name, total], [setFactor, 'Recovery codes', codeCount])
  })

  test('is rejected by the enroll, challenge, verify and admin routes of other factors', async () => {
    const { app } = await serverFor(factorsOn)
    const { session, setFactor } = await userWithRecoveryCodes(app)
    const invalid = [400, 'validation_failed']
    const enrolled = await send(app, 'POST', '/factors', session, { factor_type: 'recovery_code' })
    assert.deepEqual(statusAndCode(enrolled), invalid)
    const challenged = await send(app, 'POST', `/factors/${setFactor}/challenge`, session)
    assert.deepEqual(statusAndCode(challenged), invalid)
    const response = { challenge_id: crypto.randomUUID(), code: '123456' }
    const verified = await send(app, 'POST', `/factors/${setFactor}/verify`, session, response)
    assert.deepEqual(statusAndCode(verified), invalid)
    const removed = await send(app, 'DELETE', `/factors/${setFactor}`, session)
    assert.deepEqual(statusAndCode(removed), [422, 'validation_failed'])
    assert.equal((await send(app, 'GET', url, session)).statusCode, 200)
  })

  test('is deleted at aal2 only and lowers the sessions it stepped up', async () => {
    const { app } = await serverFor(factorsOn)
    const { email, session, first, setFactor } = await userWithRecoveryCodes(app)
    const aal1 = await signedIn(app, email)
    assert.deepEqual(statusAndCode(await send(app, 'DELETE', url, aal1)), insufficient)
    const steppedUp = (await useCode(app, aal1, first)).json()
    assert.deepEqual((await send(app, 'DELETE', url, session)).json(), { id: setFactor })
    const { factors } = (await getUser(app, session)).json()
    assert.equal(factors.length, 1)
    const { aal, amr } = (await findSession(app, steppedUp.access_token)).claims
    assert.equal(aal, 'aal2', 'a token that is out keeps its claims')
    assert.ok(amr.includes('mfa/recovery_code'))
    const next = (await refresh(app, steppedUp.refresh_token)).json()
    assert.deepEqual((await findSession(app, next.access_token)).claims, {
      aal: 'aal1',
      amr: ['password'],
    })
    assert.equal((await findSession(app, session.access_token)).stored, 'aal2')
  })
})

type App = Awaited<ReturnType<ReturnType<typeof serversOnOneDatabase>>>['app']

/** The aal claim of the token, and the stored level. */
async function findSession(app: App, token: string) {
  const [, payload = ''] = token.split('.')
  const { aal, amr, session_id } = JSON.parse(Buffer.from(payload, 'base64url').toString())
  const { rows } = await app.pool.query('select aal from auth.sessions where id = $1', [session_id])
  const methods: string[] = amr.map(({ method }: { method: string }) => method)
  return { claims: { aal, amr: methods }, stored: rows[0]?.aal }
}
