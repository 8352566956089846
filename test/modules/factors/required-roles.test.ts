/** AUTH_MFA_REQUIRED_ROLES: what users with a listed role may do before they have verified a second factor. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { nilUuid } from '../../../db/tables/users.ts'
import type { Session } from '../../../schemas/session.ts'
import { adminCall } from '../../support/admin.ts'
import { addTotp, everyFactor, send, stepUp, tokenClaims } from '../../support/factors/factors.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { refresh, statusAndCode } from '../../support/requests.ts'
import { type App, build } from '../../support/server.ts'
import { adminToken, password, signedIn, signUpUser } from '../../support/users.ts'
import { startHookReceiver } from '../../support/webhooks/hook-receiver.ts'

const env = {
  ...everyFactor,
  AUTH_MFA_REQUIRED_ROLES: 'editor,service_role',
  AUTH_SECURITY_MANUAL_LINKING_ENABLED: 'true',
}
const toEnrol = [403, 'mfa_enrollment_required']
const toVerify = [403, 'insufficient_aal']

const closed: [method: 'GET' | 'POST' | 'PUT' | 'DELETE', url: string, body?: object][] = [
  ['PUT', '/user', { data: { name: 'Ann' } }],
  ['GET', '/reauthenticate'],
  ['GET', '/sessions'],
  ['DELETE', `/sessions/${crypto.randomUUID()}`],
  ['GET', '/user/identities/authorize?provider=github'],
  ['DELETE', `/user/identities/${crypto.randomUUID()}`],
  ['POST', '/token?grant_type=id_token', { id_token: 'x.y.z', link_identity: true }],
]

suite('AUTH_MFA_REQUIRED_ROLES', () => {
  const serverFor = sharedServers()

  for (const [method, url, body] of closed) {
    const path = url.replace(/[?].*|[0-9a-f-]{36}/, '')
    test(`${method} ${path} requires a factor`, async () => {
      const { app } = await serverFor(env)
      const user = await editor(app)
      assert.deepEqual(statusAndCode(await send(app, method, url, user, body)), toEnrol)
    })
  }

  test('allows enrollment, GET /user, refresh and logout', async () => {
    const { app } = await serverFor(env)
    const user = await editor(app)
    const next = await refresh(app, user.refresh_token)
    assert.equal(next.statusCode, 200, next.body)
    assert.equal((await send(app, 'GET', '/user', user)).statusCode, 200)
    const factor = await addTotp(app, user)
    assert.equal((await send(app, 'DELETE', `/factors/${factor.id}`, user)).statusCode, 200)
    assert.equal((await send(app, 'POST', '/logout', user)).statusCode, 204)
  })

  test('requires aal2 once a factor is verified', async () => {
    const { app } = await serverFor(env)
    const user = await editor(app)
    const factor = await addTotp(app, user)
    assert.deepEqual(statusAndCode(await send(app, 'GET', '/sessions', user)), toEnrol)
    const steppedUp = await stepUp(app, user, factor)
    assert.equal((await send(app, 'GET', '/sessions', steppedUp)).statusCode, 200)
    const again = await signedIn(app, user.user.email)
    assert.deepEqual(statusAndCode(await send(app, 'GET', '/sessions', again)), toVerify)
  })

  test('issues a token for this server only until the factor is verified', async () => {
    const { app, config } = await serverFor(env)
    const user = await editor(app)
    const limited = { role: 'mfa_required', aud: config.AUTH_API_EXTERNAL_URL }
    assert.deepEqual(rightsIn(user), limited)
    const refreshed: Session = (await refresh(app, user.refresh_token)).json()
    assert.deepEqual(rightsIn(refreshed), limited)
    const steppedUp = await stepUp(app, user, await addTotp(app, user))
    assert.deepEqual(rightsIn(steppedUp), { role: 'editor', aud: 'authenticated' })
    const again = await signedIn(app, user.user.email ?? '')
    assert.deepEqual(rightsIn(again), limited)
    assert.deepEqual(rightsIn(await signUpUser(app)), {
      role: 'authenticated',
      aud: 'authenticated',
    })
  })

  test('keeps the token limited when the access token hook sets a role', async (t) => {
    const receiver = await startHookReceiver(t)
    receiver.answer(({ claims }) => ({ claims: { ...Object(claims), role: 'editor' } }))
    const { app } = await build(t, { env: { ...env, ...receiver.env('CUSTOM_ACCESS_TOKEN') } })
    const user = await signUpUser(app)
    assert.equal(rightsIn(user).role, 'mfa_required')
    assert.deepEqual(statusAndCode(await send(app, 'GET', '/sessions', user)), toEnrol)
  })

  test('does not apply to other roles', async () => {
    const { app } = await serverFor(env)
    const user = await signUpUser(app)
    assert.equal((await send(app, 'GET', '/sessions', user)).statusCode, 200)
  })

  test('rejects an admin role before the factor is verified', async () => {
    const { app } = await serverFor(env)
    const user = await withRole(app, 'service_role')
    const list = '/admin/users'
    assert.deepEqual(statusAndCode(await send(app, 'GET', list, user)), toEnrol)
    const steppedUp = await stepUp(app, user, await addTotp(app, user))
    assert.equal((await send(app, 'GET', list, steppedUp)).statusCode, 200)
    const service = { access_token: await adminToken(app) }
    assert.equal((await send(app, 'GET', list, service)).statusCode, 200)
  })

  test('applies to a role assigned after the token was issued', async () => {
    const { app } = await serverFor(env)
    const user = await signUpUser(app)
    await app.pool.query(`update auth.users set role = 'editor' where id = $1`, [user.user.id])
    assert.deepEqual(statusAndCode(await send(app, 'GET', '/sessions', user)), toEnrol)
  })

  test('applies to the role of the token, with and without a session', async () => {
    const { app } = await serverFor(env)
    const claims = await app.jwt.verify((await signUpUser(app)).access_token)
    for (const session_id of [claims.session_id ?? '', nilUuid]) {
      const access_token = await app.jwt.sign({ ...claims, session_id, role: 'editor' })
      assert.deepEqual(
        statusAndCode(await send(app, 'GET', '/sessions', { access_token })),
        toEnrol,
      )
    }
  })

  function rightsIn(session: Session) {
    const { role, aud } = tokenClaims(session)
    return { role, aud }
  }

  const editor = (app: App) => withRole(app, 'editor')

  async function withRole(app: App, role: string): Promise<Session> {
    const email = `${crypto.randomUUID()}@example.com`
    const body = { email, password, role, email_confirm: true }
    await adminCall(app, 'POST', '/admin/users', body)
    return signedIn(app, email)
  }
})
