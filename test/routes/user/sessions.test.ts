/** Session lists of users and admins. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { decodeJwt } from 'jose'

import type { Device } from '../../../schemas/device.ts'
import type { Session } from '../../../schemas/session.ts'
import { asAdmin } from '../../support/admin.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { bearer, getUser, refresh, statusAndCode } from '../../support/requests.ts'
import type { App } from '../../support/server.ts'
import { autoconfirm, signedIn, signUpUser } from '../../support/users.ts'

const phone = { 'user-agent': 'phone/1', 'x-forwarded-for': '203.0.113.7, 127.0.0.2' }

suite('/sessions', () => {
  const serverFor = sharedServers()

  test('lists each session with its device, last used first', async (t) => {
    const { app } = await serverFor(autoconfirm)
    const started = Math.ceil(Date.now() / 1000) * 1000
    t.mock.timers.enable({ apis: ['Date'], now: started })
    const first = await signUpUser(app)
    t.mock.timers.setTime(started + 1000)
    await signedIn(app, first.email, phone)
    t.mock.timers.setTime(started + 2000)
    const otherServer = { 'user-agent': 'browser/2', 'x-forwarded-for': '2001:db8::1' }
    await refresh(app, first.refresh_token, otherServer)

    const [used, other, ...more] = await listDevices(app, first)

    assert.deepEqual(more, [])
    const { id, ...rest } = used ?? assert.fail()
    assert.equal(id, getSessionId(first))
    assert.deepEqual(rest, {
      created_at: new Date(started).toISOString(),
      last_used_at: new Date(started + 2000).toISOString(),
      user_agent: 'browser/2',
      ip: '2001:db8::1',
      current: true,
    })
    assert.equal(other?.user_agent, 'phone/1')
    assert.equal(other?.ip, '203.0.113.7')
    assert.equal(other?.current, false)
  })

  test('truncates user agents to 2048 characters', async () => {
    const { app } = await serverFor(autoconfirm)
    const { email } = await signUpUser(app)
    const session = await signedIn(app, email, { 'user-agent': 'b'.repeat(3000) })
    const own = (await listDevices(app, session)).find(({ current }) => current)
    assert.equal(own?.user_agent, 'b'.repeat(2048))
  })

  test('omits expired sessions', async (t) => {
    const { app } = await serverFor({ ...autoconfirm, AUTH_SESSIONS_TIMEBOX: '1h' })
    const started = Date.now()
    t.mock.timers.enable({ apis: ['Date'], now: started })
    const { email } = await signUpUser(app)
    t.mock.timers.setTime(started + 3_600_000)
    const later = await signedIn(app, email)
    assert.equal((await listDevices(app, later)).length, 1)
  })

  test('omits sessions superseded by a later one', async (t) => {
    const single = { AUTH_SESSIONS_SINGLE_PER_USER: 'true', AUTH_SESSIONS_TAGS: 'web,phone' }
    const impersonation = { AUTH_ADMIN_IMPERSONATION_ENABLED: 'true' }
    const { app } = await serverFor({ ...autoconfirm, ...single, ...impersonation })
    const started = Date.now()
    t.mock.timers.enable({ apis: ['Date'], now: started })
    const first = await signUpUser(app)
    const path = `/admin/users/${first.user.id}/impersonate`
    const admins: Session = (await asAdmin(app, 'POST', path, {})).json()
    t.mock.timers.setTime(started + 1000)
    const onPhone = await signedIn(app, first.email, { 'x-session-tag': 'phone' })
    t.mock.timers.setTime(started + 2000)
    const last = await signedIn(app, first.email)

    assert.equal((await refresh(app, first.refresh_token)).json().error_code, 'session_expired')
    assert.deepEqual(
      (await listDevices(app, last)).map(({ id }) => id),
      [last, onPhone, admins].map(getSessionId),
    )
  })

  test('rejects a malformed session id', async () => {
    const { app } = await serverFor(autoconfirm)
    const user = await signUpUser(app)
    const [id, userId] = [`urn:uuid:${getSessionId(user)}`, `urn:uuid:${user.user.id}`]
    const own = await app.inject({
      method: 'DELETE',
      url: `/sessions/${id}`,
      headers: bearer(user),
    })
    const responses = [
      own,
      await asAdmin(app, 'GET', `/admin/users/${userId}/sessions`),
      await asAdmin(app, 'DELETE', `/admin/users/${userId}/sessions`),
      await asAdmin(app, 'DELETE', `/admin/users/${user.user.id}/sessions/${id}`),
    ]
    for (const response of responses) {
      assert.deepEqual(statusAndCode(response), [404, 'validation_failed'])
    }
  })

  test('revokes one session only', async () => {
    const { app } = await serverFor(autoconfirm)
    const mine = await signUpUser(app)
    const other = await signedIn(app, mine.email)
    const attacker = await signUpUser(app)

    assert.equal(await signOut(app, mine, getSessionId(attacker)), 404)
    assert.equal(await signOut(app, mine, getSessionId(other)), 204)
    assert.equal(await signOut(app, mine, getSessionId(other)), 404)

    assert.equal((await getUser(app, other)).json().error_code, 'session_not_found')
    assert.equal(
      (await refresh(app, other.refresh_token)).json().error_code,
      'refresh_token_not_found',
    )
    assert.equal((await getUser(app, attacker)).statusCode, 200)
    assert.equal((await listDevices(app, mine)).length, 1)
    assert.equal(await signOut(app, mine, getSessionId(mine)), 204)
    assert.equal((await getUser(app, mine)).statusCode, 403)
  })

  test('lets an admin list and revoke the sessions of each user', async () => {
    const { app } = await serverFor(autoconfirm)
    const ann = await signUpUser(app)
    const second = await signedIn(app, ann.email, phone)
    await signedIn(app, ann.email)
    const bob = await signUpUser(app)
    const path = `/admin/users/${ann.user.id}/sessions`
    const send = (method: 'GET' | 'DELETE', url: string) => asAdmin(app, method, url)

    const listed: Device[] = (await send('GET', path)).json().sessions
    assert.deepEqual(listed.map(({ user_agent }) => user_agent).includes('phone/1'), true)
    assert.equal(listed.length, 3)
    assert.equal((await send('DELETE', `${path}/${getSessionId(bob)}`)).statusCode, 404)
    assert.equal((await send('DELETE', `${path}/${getSessionId(second)}`)).statusCode, 204)
    assert.equal((await send('GET', path)).json().sessions.length, 2)
    assert.equal((await send('DELETE', path)).statusCode, 204)
    assert.deepEqual((await send('GET', path)).json(), { sessions: [] })
    assert.equal((await refresh(app, ann.refresh_token)).statusCode, 400)
    assert.equal((await refresh(app, bob.refresh_token)).statusCode, 200)

    const unknownId = `/admin/users/${crypto.randomUUID()}/sessions`
    for (const method of ['GET', 'DELETE'] as const) {
      const response = await send(method, unknownId)
      assert.equal(response.statusCode, 404)
      assert.equal(response.json().error_code, 'user_not_found')
    }
    assert.equal(
      (await send('GET', '/admin/users/x/sessions')).json().msg,
      'user_id must be an UUID',
    )
  })

  test('rejects an admin whose session expired or was revoked', async () => {
    const { app } = await serverFor(autoconfirm)
    const user = await signUpUser(app)
    await app.db
      .updateTable('users')
      .set({ role: 'service_role' })
      .where('id', '=', user.user.id)
      .execute()
    const admin = await signedIn(app, user.email)
    const headers = { authorization: `Bearer ${admin.access_token}` }
    const url = `/admin/users/${user.user.id}/sessions`
    assert.equal((await app.inject({ url, headers })).statusCode, 200)
    await app.db
      .updateTable('sessions')
      .set({ not_after: new Date(Date.now() - 1) })
      .where('id', '=', getSessionId(admin))
      .execute()
    assert.equal((await app.inject({ url, headers })).json().error_code, 'session_expired')
    await signOut(app, user, getSessionId(admin))
    assert.equal((await app.inject({ url, headers })).json().error_code, 'session_not_found')
  })
})

async function listDevices(app: App, session: Session): Promise<Device[]> {
  const response = await app.inject({ url: '/sessions', headers: bearer(session) })
  assert.equal(response.statusCode, 200, response.body)
  return response.json().sessions
}

async function signOut(app: App, session: Session, id: string): Promise<number> {
  const headers = bearer(session)
  const response = await app.inject({ method: 'DELETE', url: `/sessions/${id}`, headers })
  return response.statusCode
}

function getSessionId({ access_token }: Session): string {
  return String(decodeJwt(access_token).session_id)
}
