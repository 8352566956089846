/** Attacks on recovery codes: guessing, races and codes of other users. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { asAdmin } from '../../../support/admin.ts'
import {
  challenge,
  everyFactor,
  tokenClaims,
  verifyChallenge,
  wrongCode,
} from '../../../support/factors/factors.ts'
import {
  codeCount,
  factorsOn,
  ownUrl,
  remaining,
  remakeCodes,
  url,
  useCode,
  userWithRecoveryCodes,
  wrongRecoveryCode,
} from '../../../support/factors/recovery-codes.ts'
import { serversOnOneDatabase } from '../../../support/processes/shared-servers.ts'
import { call, getUser, statusAndCode } from '../../../support/requests.ts'
import { signedIn } from '../../../support/users.ts'

const failed = [422, 'mfa_verification_failed']
const locked = [429, 'mfa_recovery_codes_locked']

suite('recovery code attacks', () => {
  const serverFor = serversOnOneDatabase()

  test('verifies five of a hundred racing attempts and locks the codes', async (t) => {
    const { app } = await serverFor(factorsOn)
    const { email, low: aal1, first } = await userWithRecoveryCodes(app)
    const other = await signedIn(app, email)
    // The lock does not expire during the attempts, however slow the machine.
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
    const responses = await Promise.all(
      Array.from({ length: 100 }, () => useCode(app, aal1, wrongRecoveryCode)),
    )
    const codes = responses.map((response) => String(statusAndCode(response)))
    assert.equal(codes.filter((code) => code === String(failed)).length, 5)
    assert.equal(codes.filter((code) => code === String(locked)).length, 95)
    const right = await useCode(app, other, first)
    assert.deepEqual(statusAndCode(right), locked)
    assert.equal(right.headers['retry-after'], '900')
    assert.equal(await remaining(app, other), codeCount)

    t.mock.timers.setTime(Date.now() + 900_000)
    assert.equal((await useCode(app, other, first)).statusCode, 200)
  })

  test('does not extend a lock, and resets the counter when it expires', async (t) => {
    const { app } = await serverFor({
      ...factorsOn,
      AUTH_MFA_RECOVERY_CODES_MAX_VERIFY_ATTEMPTS: '3',
      AUTH_MFA_RECOVERY_CODES_LOCKOUT_DURATION: '1m',
    })
    const { low: aal1, first } = await userWithRecoveryCodes(app)
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
    const attempt = async () => statusAndCode(await useCode(app, aal1, wrongRecoveryCode))
    for (let i = 0; i < 3; i++) assert.deepEqual(await attempt(), failed)
    t.mock.timers.setTime(Date.now() + 59_000)
    assert.deepEqual(await attempt(), locked)
    t.mock.timers.setTime(Date.now() + 1_000)
    for (let i = 0; i < 2; i++) assert.deepEqual(await attempt(), failed)
    assert.equal((await useCode(app, aal1, first)).statusCode, 200)
  })

  test('resets failures by a correct code, and failures and lock by new codes', async () => {
    const { app } = await serverFor(factorsOn)
    const { low: aal1, session, codes } = await userWithRecoveryCodes(app)
    const [first = '', second = ''] = codes
    const fail = async (token: { access_token: string }, times: number) => {
      for (let i = 0; i < times; i++) await useCode(app, token, wrongRecoveryCode)
    }
    await fail(aal1, 4)
    const steppedUp = (await useCode(app, aal1, first)).json()
    await fail(steppedUp, 4)
    const again = (await useCode(app, steppedUp, second)).json()
    await fail(again, 5)
    assert.deepEqual(statusAndCode(await useCode(app, again, second)), locked)
    const made = (await remakeCodes(app, session)).json()
    assert.equal((await useCode(app, again, made.codes[0])).statusCode, 200)
  })

  test('does not count correct codes', async () => {
    // Ten codes: more than the attempts allowed.
    const { app } = await serverFor(everyFactor)
    const { codes, low: aal1 } = await userWithRecoveryCodes(app)
    let session: { access_token: string } = aal1
    for (const code of codes) {
      const response = await useCode(app, session, code)
      assert.equal(response.statusCode, 200, response.body)
      session = response.json()
    }
    assert.deepEqual(statusAndCode(await useCode(app, session, wrongRecoveryCode)), failed)
  })

  test('accepts a recovery code after too many wrong TOTP codes', async () => {
    const { app } = await serverFor(factorsOn)
    const { low: aal1, factor, first } = await userWithRecoveryCodes(app)
    const { id: challenge_id } = await challenge(app, aal1, factor.id)
    const attempt = { challenge_id, code: wrongCode(factor.secret) }
    const responses = []
    for (let i = 0; i < 11; i++) {
      responses.push(await verifyChallenge(app, aal1, factor.id, attempt))
    }
    assert.equal(responses.at(-1)?.statusCode, 429)
    assert.equal((await useCode(app, aal1, first)).statusCode, 200)
  })

  test('does not lock the codes of other users', async () => {
    const { app } = await serverFor(factorsOn)
    const [mine, other] = [await userWithRecoveryCodes(app), await userWithRecoveryCodes(app)]
    await Promise.all(Array.from({ length: 50 }, () => useCode(app, mine.low, wrongRecoveryCode)))
    assert.equal((await useCode(app, other.low, other.first)).statusCode, 200)
  })

  test('accepts one of twenty racing uses of one code', async () => {
    const { app } = await serverFor(factorsOn)
    const { low: aal1, session, first } = await userWithRecoveryCodes(app)
    const responses = await Promise.all(Array.from({ length: 20 }, () => useCode(app, aal1, first)))
    assert.equal(responses.filter(({ statusCode }) => statusCode === 200).length, 1)
    assert.equal(await remaining(app, session), codeCount - 1)
  })

  test('rejects a code of another user and does not consume it', async () => {
    const { app } = await serverFor(factorsOn)
    const [mine, other] = [await userWithRecoveryCodes(app), await userWithRecoveryCodes(app)]
    assert.deepEqual(statusAndCode(await useCode(app, mine.low, other.first)), failed)
    assert.equal(tokenClaims(mine.low).aal, 'aal1')
    assert.equal((await useCode(app, other.low, other.first)).statusCode, 200)
  })

  for (const [what, code] of [
    ['of another length', 'a'.repeat(15)],
    ['with letters outside the alphabet', '0189018901890189'],
    ['equal to a stored hash', 'code_hash'],
    ['equal to a stored digest', 'digest'],
    ['that is very long', 'a'.repeat(100_000)],
    ['with a wildcard', '%'.repeat(16)],
  ] as const) {
    test(`rejects a code ${what} and stays at aal1`, async () => {
      const { app } = await serverFor(factorsOn)
      const { low: aal1, session } = await userWithRecoveryCodes(app)
      const { rows } = await app.pool.query(
        `select code_hash, digest from auth.mfa_recovery_codes
          join auth.postern_recovery_code_digests on code_id = mfa_recovery_codes.id
          join auth.mfa_recovery_code_sets sets on sets.id = mfa_recovery_code_set_id
          where user_id = $1 limit 1`,
        [session.user.id],
      )
      const typed: string = rows[0][code] ?? code
      assert.deepEqual(statusAndCode(await useCode(app, aal1, typed)), failed)
      assert.equal(await remaining(app, session), codeCount)
      const { aal } = tokenClaims(aal1)
      assert.equal(aal, 'aal1')
    })
  }

  test('rejects a code of a banned user and does not consume it', async () => {
    const { app } = await serverFor(factorsOn)
    const { low: aal1, session, first } = await userWithRecoveryCodes(app)
    const { id } = session.user
    await asAdmin(app, 'PUT', `/admin/users/${id}`, { ban_duration: '1h' })
    assert.deepEqual(statusAndCode(await useCode(app, aal1, first)), [403, 'user_banned'])
    const left = await asAdmin(app, 'GET', `/admin/users/${id}${ownUrl}`)
    assert.deepEqual(left.json(), { remaining: codeCount })
  })

  test('rejects a code in a revoked session and does not consume it', async () => {
    const { app } = await serverFor(factorsOn)
    const { low: aal1, session, first } = await userWithRecoveryCodes(app)
    await call(app, '/logout?scope=local', {}, { token: aal1.access_token })
    assert.deepEqual(statusAndCode(await useCode(app, aal1, first)), [403, 'session_not_found'])
    assert.equal((await getUser(app, session)).statusCode, 200)
    assert.equal(await remaining(app, session), codeCount)
  })

  test('rejects a request without a token', async () => {
    const { app } = await serverFor(factorsOn)
    for (const response of [
      await call(app, url),
      await call(app, ownUrl),
      await call(app, url, {}),
      await call(app, `${url}/verify`, {}),
    ]) {
      assert.deepEqual(statusAndCode(response), [401, 'no_authorization'])
    }
  })
})
