import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { decodeJwt } from 'jose'

import type { Device } from '../../../schemas/device.ts'
import type { Session } from '../../../schemas/session.ts'
import { adminCall, asAdmin } from '../../support/admin.ts'
import { createAdmin, withConsole } from '../../support/admins.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call, refresh } from '../../support/requests.ts'
import { type App, build } from '../../support/server.ts'
import {
  adminCreatedUser,
  bodyOf200,
  newAddress,
  password,
  signedIn,
  signUpUser,
} from '../../support/users.ts'

const enabled = { AUTH_ADMIN_IMPERSONATION_ENABLED: 'true' }
const minute = 60_000

suite('POST /admin/users/{user_id}/impersonate', () => {
  const server = sharedServers()

  async function withUser(env: Record<string, string> = enabled) {
    const { app } = await server(env)
    const email = newAddress()
    const { id } = await adminCreatedUser(app, { email, email_confirm: true, password })
    return { app, id, email }
  }

  test('returns 404 feature_disabled by default', async () => {
    const { app, id } = await withUser({})
    const response = await asAdmin(app, 'POST', `/admin/users/${id}/impersonate`, {})
    assert.deepEqual([response.statusCode, response.json().error_code], [404, 'feature_disabled'])
  })

  test('creates a short session whose act claim is kept by refreshes', async () => {
    const { app, id } = await withUser()

    const session = await impersonate(app, id, { reason: 'ticket 7' })

    assert.equal(session.expires_in, 15 * 60)
    for (const { access_token, user } of [session, await refreshed(app, session)]) {
      const { act, sub, amr, exp = 0, iat = 0 } = decodeJwt(access_token)
      assert.deepEqual([sub, act], [id, { sub: 'service_role' }])
      assert.equal(Array.isArray(amr) && amr[0].method, 'impersonation')
      assert.ok(exp - iat <= 15 * 60)
      assert.equal(user.last_sign_in_at, undefined)
      assert.equal((await get(app, '/user', access_token)).statusCode, 200)
    }
  })

  test('AUTH_ADMIN_IMPERSONATION_EXP: sets the lifetime of the session', async (t) => {
    const { app, id } = await withUser({ ...enabled, AUTH_ADMIN_IMPERSONATION_EXP: '2m' })
    const session = await impersonate(app, id)
    assert.equal(session.expires_in, 2 * 60)
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 3 * minute })
    const late = await refresh(app, session.refresh_token)
    assert.equal(late.json().error_code, 'session_expired')
  })

  test('names the user of an admin token in the act claim', async () => {
    const { app, id } = await withUser()
    const admin = await adminCreatedUser(app, { email: 'admin@example.com' })
    const token = await app.jwt.signApiToken(
      { role: 'service_role', sub: admin.id, seconds: 60 },
      new Date(),
    )
    const headers = { authorization: `Bearer ${token}` }
    const url = `/admin/users/${id}/impersonate`
    const response = await app.inject({ method: 'POST', url, headers })
    assert.deepEqual(decodeJwt(response.json<Session>().access_token).act, { sub: admin.id })
    const [entry] = await adminCall<Entry[]>(app, 'GET', '/admin/audit?query=action:impersonated')
    assert.equal(entry?.payload.actor_username, 'admin@example.com')
  })

  test('records the impersonation in the audit log and the session list', async () => {
    const { app, id } = await withUser()
    const session = await impersonate(app, id, { reason: 'ticket 7' })

    const [entry] = await adminCall<Entry[]>(app, 'GET', '/admin/audit?query=action:impersonated')
    assert.equal(entry?.payload.actor_username, 'service_role')
    assert.equal(entry?.payload.traits.user_id, id)
    assert.equal(entry?.payload.traits.reason, 'ticket 7')
    const url = `/admin/users/${id}/sessions`
    const { sessions } = await adminCall<{ sessions: Device[] }>(app, 'GET', url)
    assert.deepEqual(
      sessions.map(({ impersonated_by }) => impersonated_by),
      ['service_role'],
    )
    assert.equal(sessions[0]?.id, decodeJwt(session.access_token).session_id)
  })

  test('rejects impersonated sessions on admin endpoints, also of admins', async () => {
    const { app, id } = await withUser()
    await adminCall(app, 'PUT', `/admin/users/${id}`, { role: 'service_role' })
    const { access_token } = await impersonate(app, id)
    assert.equal(decodeJwt(access_token).role, 'service_role')
    const response = await get(app, '/admin/users', access_token)
    assert.deepEqual([response.statusCode, response.json().error_code], [403, 'not_admin'])
    const onward = await app.inject({
      method: 'POST',
      url: `/admin/users/${id}/impersonate`,
      headers: { authorization: `Bearer ${access_token}` },
    })
    assert.equal(onward.statusCode, 403)
  })

  test('rejects changes of credentials by an impersonated session', async () => {
    const env = { ...enabled, AUTH_SECURITY_MANUAL_LINKING_ENABLED: 'true' }
    const { app, id } = await withUser(env)
    const { access_token, user } = await impersonate(app, id)
    const headers = { authorization: `Bearer ${access_token}` }
    const put = (payload: object) => app.inject({ method: 'PUT', url: '/user', headers, payload })
    const identity = user.identities?.[0]?.identity_id
    const rejected = [
      await put({ password: 'another correct horse' }),
      await put({ email: 'eve@example.com' }),
      await get(app, '/user/identities/authorize?provider=google', access_token),
      await app.inject({ method: 'DELETE', url: `/user/identities/${identity}`, headers }),
    ]
    for (const response of rejected) {
      const reply = [response.statusCode, response.json().error_code]
      assert.deepEqual(reply, [403, 'session_impersonated'])
    }
    assert.equal((await put({ data: { seen: true } })).json().user_metadata.seen, true)
  })

  test('does not extend the session beyond its lifetime', async (t) => {
    const now = Date.now()
    t.mock.timers.enable({ apis: ['Date'], now })
    const { app, id } = await withUser()
    const session = await impersonate(app, id)
    t.mock.timers.setTime(now + 10 * minute)
    const later = await refreshed(app, session)
    assert.equal(later.expires_in, 5 * 60)
    t.mock.timers.setTime(now + 16 * minute)
    const url = '/token?grant_type=refresh_token'
    const payload = { refresh_token: later.refresh_token }
    const late = await app.inject({ method: 'POST', url, payload })
    assert.equal(late.json().error_code, 'session_expired')
    const user = await get(app, '/user', later.access_token)
    assert.equal(user.json().error_code, 'bad_jwt')
  })

  test('ends with the sign-out of the admin also after the setting was turned off', async (t) => {
    const on = await build(t, { env: withConsole })
    const [admin, { user }] = [await createAdmin(on.app, 'owner'), await signUpUser(on.app)]
    const url = `/admin/users/${user.id}/impersonate`
    const opened = await call(on.app, url, {}, { token: admin.session.access_token })
    const session: Session = bodyOf200(opened)
    const { app } = await build(t, { database: on.database })
    assert.equal((await get(app, '/user', session.access_token)).statusCode, 200)
    assert.equal(
      (await call(app, '/logout', {}, { token: admin.session.access_token })).statusCode,
      204,
    )
    assert.equal((await get(app, '/user', session.access_token)).statusCode, 403)
  })

  test('does not revoke the user’s session under AUTH_SESSIONS_SINGLE_PER_USER', async () => {
    const env = { ...enabled, AUTH_SESSIONS_SINGLE_PER_USER: 'true' }
    const { app, id, email } = await withUser(env)
    const own = await signedIn(app, email)
    await impersonate(app, id)
    await refreshed(app, own)
  })

  test('is not revoked by the user’s session under AUTH_SESSIONS_SINGLE_PER_USER', async () => {
    const env = { ...enabled, AUTH_SESSIONS_SINGLE_PER_USER: 'true' }
    const { app, id, email } = await withUser(env)
    const own = await signedIn(app, email)
    const impersonated = await impersonate(app, id)
    await refreshed(app, own)
    await refreshed(app, impersonated)
  })

  test('rejects unknown, banned and deleted users', async () => {
    const { app, id } = await withUser()
    const url = `/admin/users/${id}/impersonate`
    const codes = async (path: string) => (await asAdmin(app, 'POST', path, {})).json().error_code
    assert.equal(await codes('/admin/users/7/impersonate'), 'validation_failed')
    assert.equal(await codes(`/admin/users/${crypto.randomUUID()}/impersonate`), 'user_not_found')
    await adminCall(app, 'PUT', `/admin/users/${id}`, { ban_duration: '1h' })
    assert.equal(await codes(url), 'user_banned')
    await adminCall(app, 'DELETE', `/admin/users/${id}`, { should_soft_delete: true })
    assert.equal(await codes(url), 'user_not_found')
  })
})

interface Entry {
  payload: { actor_username: string; traits: Record<string, unknown> }
}

function impersonate(app: App, id: string, body: object = {}): Promise<Session> {
  return adminCall(app, 'POST', `/admin/users/${id}/impersonate`, body)
}

async function refreshed(app: App, { refresh_token }: Session): Promise<Session> {
  const response = await refresh(app, refresh_token)
  assert.equal(response.statusCode, 200, response.body)
  return response.json()
}

function get(app: App, url: string, token: string) {
  return app.inject({ url, headers: { authorization: `Bearer ${token}` } })
}
