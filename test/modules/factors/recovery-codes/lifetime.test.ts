/** Recovery codes last until the last other factor is removed. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../../../schemas/session.ts'
import { asAdmin } from '../../../support/admin.ts'
import { addTotp, send, stepUp, tokenClaims } from '../../../support/factors/factors.ts'
import {
  codeCount,
  factorsOn,
  remaining,
  useCode,
  userWithRecoveryCodes,
} from '../../../support/factors/recovery-codes.ts'
import { serversOnOneDatabase } from '../../../support/processes/shared-servers.ts'
import { call, statusAndCode } from '../../../support/requests.ts'
import { bodyOf200, password, signedIn, signIn } from '../../../support/users.ts'

const soleFactor = [422, 'mfa_recovery_codes_sole_factor']
const wrong = [422, 'mfa_verification_failed']

suite('lifetime of recovery codes', () => {
  const serverFor = serversOnOneDatabase()

  test('rejects removing the last other verified factor while codes exist', async () => {
    const { app } = await serverFor(factorsOn)
    const { factor, session } = await userWithRecoveryCodes(app)
    const removed = await send(app, 'DELETE', `/factors/${factor.id}`, session)
    assert.deepEqual(statusAndCode(removed), soleFactor)
    assert.equal(await remaining(app, session), codeCount)
  })

  test('allows removing a factor while another one remains', async () => {
    const { app } = await serverFor(factorsOn)
    const { factor, session } = await userWithRecoveryCodes(app)
    const both = await stepUp(app, session, await addTotp(app, session, 'Another'))
    assert.equal((await send(app, 'DELETE', `/factors/${factor.id}`, both)).statusCode, 200)
    assert.equal(await remaining(app, both), codeCount)
  })

  test('deletes the codes with a last factor that can no longer be verified', async () => {
    const on = await serverFor(factorsOn)
    const { email, factor, session, first } = await userWithRecoveryCodes(on.app)
    const { app } = await serverFor({
      ...factorsOn,
      AUTH_MFA_TOTP_VERIFY_ENABLED: 'false',
    })
    assert.equal((await send(app, 'DELETE', `/factors/${factor.id}`, session)).statusCode, 200)
    const left = await signedIn(app, email)
    assert.equal(left.user.factors, undefined)
    assert.deepEqual(statusAndCode(await useCode(app, left, first)), wrong)
    assert.deepEqual(await endings(app, session.user.id), [
      'factor_unenrolled',
      'recovery_codes_deleted',
    ])
  })

  test('records codes deleted by an admin with the last factor in the audit log', async () => {
    const { app } = await serverFor(factorsOn)
    const { email, factor, session } = await userWithRecoveryCodes(app)
    const path = `/admin/users/${session.user.id}/factors`
    assert.equal((await asAdmin(app, 'DELETE', `${path}/${factor.id}`)).statusCode, 200)
    assert.deepEqual((await asAdmin(app, 'GET', path)).json(), [])
    assert.equal((await signedIn(app, email)).user.factors, undefined)
    assert.deepEqual(await endings(app, session.user.id), [
      'factor_deleted',
      'recovery_codes_deleted',
    ])
  })

  test('lets an admin delete the codes as a factor and keep the other factor', async () => {
    const { app } = await serverFor(factorsOn)
    const { factor, session, setFactor } = await userWithRecoveryCodes(app)
    const path = `/admin/users/${session.user.id}/factors`
    assert.equal((await asAdmin(app, 'DELETE', `${path}/${setFactor}`)).statusCode, 200)
    const left: { id: string }[] = (await asAdmin(app, 'GET', path)).json()
    assert.deepEqual(
      left.map(({ id }) => id),
      [factor.id],
    )
  })

  test('rejects codes from before an admin removed the last factor', async () => {
    const { app } = await serverFor(factorsOn)
    const { email, factor, session, first } = await userWithRecoveryCodes(app)
    const { id } = session.user
    const path = `/admin/users/${id}/factors/${factor.id}`
    assert.equal((await asAdmin(app, 'DELETE', path)).statusCode, 200)

    const owner = await signedIn(app, email)
    const { access_token: token } = owner
    const changed = `${password} 2`
    await call(app, '/user', { password: changed }, { method: 'PUT', token })
    await call(app, '/logout?scope=global', {}, { token })
    const enter = async () => bodyOf200<Session>(await signIn(app, { email, password: changed }))
    const back = await enter()
    await stepUp(app, back, await addTotp(app, back))

    const attacker = await enter()
    assert.deepEqual(statusAndCode(await useCode(app, attacker, first)), wrong)
    assert.equal(tokenClaims(attacker).aal, 'aal1')
  })
})

type App = Awaited<ReturnType<ReturnType<typeof serversOnOneDatabase>>>['app']

/** What the audit log has of removed factors of a user. */
async function endings(app: App, userId: string): Promise<string[]> {
  const { rows } = await app.pool.query(
    `select payload->>'action' as action from auth.audit_log_entries
      where payload->>'action' in ('factor_unenrolled', 'factor_deleted', 'recovery_codes_deleted')
        and $1 in (payload->>'actor_id', payload->'traits'->>'user_id') order by 1`,
    [userId],
  )
  return rows.map(({ action }) => action)
}
