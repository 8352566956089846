/** Permissions of each admin role at every endpoint of the admin API, and attempts to raise a role. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import {
  type AdminRole,
  adminRoleNames,
  includesRole,
} from '../../../schemas/console/admin-role.ts'
import type { Session } from '../../../schemas/session.ts'
import { adminCall, asAdmin } from '../../support/admin.ts'
import { createAdmin, removeAdmins, withConsole } from '../../support/admins.ts'
import { addTotp, send, stepUp } from '../../support/factors/factors.ts'
import { lockRows, lockUserRow } from '../../support/locked-user.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { getUser, refresh, statusAndCode } from '../../support/requests.ts'
import type { App } from '../../support/server.ts'
import { newAddress, password, signedIn, signUpUser } from '../../support/users.ts'
import { endpointsByRole } from './endpoints.ts'

type Method = 'GET' | 'PUT' | 'POST' | 'DELETE'

const required = [403, 'admin_role_required']

suite('admin roles', () => {
  const serverFor = sharedServers()
  const env = { ...withConsole, AUTH_ORGANIZATIONS_ENABLED: 'true' }
  const server = async () => (await serverFor(env)).app

  test('tests every endpoint of the admin API with every role', async () => {
    const listed = Object.values(endpointsByRole).flat()
    assert.deepEqual(listed.toSorted(), (await listEndpoints(await server())).toSorted())
  })

  for (const role of adminRoleNames) {
    test(`the role ${role} can call exactly its endpoints and those of lower roles`, async () => {
      const app = await server()
      const { request } = await createAdmin(app, role)
      const permitted = listPermitted(role)
      for (const name of await listEndpoints(app)) {
        const [method = '', path = ''] = name.split(' ')
        const url = path.replaceAll(/\{\w+\}/g, crypto.randomUUID())
        const payload = method === 'GET' ? undefined : {}
        const outcome = statusAndCodeOrBody(await request(method as Method, url, payload))
        const isRejected = outcome[1] === 'admin_role_required'
        assert.equal(isRejected, !permitted.includes(name), `${name}: ${outcome}`)
        assert.notEqual(outcome[1], 'not_admin', name)
        assert.ok(Number(outcome[0]) < 500, `${name}: ${outcome}`)
      }
      const { allowed } = (await request('GET', '/admin/me')).json<{ allowed: string[] }>()
      assert.deepEqual(allowed.toSorted(), permitted.toSorted())
    })
  }

  test('rejects a user without an admin role and a removed admin', async () => {
    const app = await server()
    const { id, request } = await createAdmin(app, 'operator')
    assert.equal((await request('GET', '/admin/users')).statusCode, 200)
    assert.equal((await asAdmin(app, 'DELETE', `/admin/admins/${id}`)).statusCode, 204)
    assert.deepEqual(statusAndCode(await request('GET', '/admin/users')), [403, 'not_admin'])
  })

  test('gives a service key and a token with an admin role the rights of an owner', async () => {
    const app = await server()
    const me = await adminCall<{ role: string; user: null }>(app, 'GET', '/admin/me')
    assert.deepEqual([me.role, me.user], ['owner', null])
    const { id, request } = await createAdmin(app, 'support')
    const self = (await request('GET', '/admin/me')).json()
    assert.deepEqual([self.role, self.user.id], ['support', id])
    assert.ok(self.allowed.includes('GET /admin/users'))
    assert.ok(!self.allowed.includes('POST /admin/users'))
  })

  test('allows only owners to change the accounts of admins, at every endpoint', async () => {
    const app = await server()
    const owner = await createAdmin(app, 'owner')
    const operator = await createAdmin(app, 'operator')
    const user = `/admin/users/${owner.id}`
    const attempts: [Method, string, object?][] = [
      ['PUT', user, { password: `${password} 2` }],
      ['DELETE', user],
      ['DELETE', `${user}/sessions`],
      ['POST', `${user}/impersonate`],
      ['DELETE', `${user}/factors/recovery_codes`],
      ['DELETE', `${user}/passkeys/${crypto.randomUUID()}`],
      ['DELETE', `${user}/factors/${crypto.randomUUID()}`],
      ['POST', '/admin/generate_link', { type: 'recovery', email: owner.email }],
      ['POST', '/admin/generate_link', { type: 'magiclink', email: owner.email }],
      ['POST', '/invite', { email: owner.email }],
    ]
    for (const [method, url, payload] of attempts) {
      assert.deepEqual(statusAndCode(await operator.request(method, url, payload)), required, url)
    }
    const changed = await owner.request('PUT', `/admin/users/${operator.id}`, {
      user_metadata: { city: 'Bonn' },
    })
    assert.equal(changed.statusCode, 200, changed.body)
  })

  test('rejects an operator who grants a role with access to the admin API', async () => {
    const app = await server()
    const { request } = await createAdmin(app, 'operator')
    const { user } = await signUpUser(app)
    const role = 'service_role'
    const change = await request('PUT', `/admin/users/${user.id}`, { role })
    assert.deepEqual(statusAndCode(change), required)
    const made = await request('POST', '/admin/users', { email: newAddress(), password, role })
    assert.deepEqual(statusAndCode(made), required)
    const plain = await request('PUT', `/admin/users/${user.id}`, { role: 'editor' })
    assert.equal(plain.statusCode, 200, plain.body)
    assert.equal((await adminCall(app, 'GET', `/admin/users/${user.id}`)).role, 'editor')
  })

  test('rejects an impersonation session of an admin at admin endpoints', async () => {
    const app = await server()
    const { id } = await createAdmin(app, 'owner')
    const session = await adminCall<{ access_token: string }>(
      app,
      'POST',
      `/admin/users/${id}/impersonate`,
    )
    const authorization = `Bearer ${session.access_token}`
    const response = await app.inject({ url: '/admin/users', headers: { authorization } })
    assert.deepEqual(statusAndCode(response), [403, 'not_admin'])
  })

  type End = (app: App, id: string) => Promise<{ statusCode: number; body: string }>
  const ends: Record<string, End> = {
    'the removal of the role': (app, id) => asAdmin(app, 'DELETE', `/admin/admins/${id}`),
    'a demotion to support': (app, id) =>
      asAdmin(app, 'PUT', `/admin/admins/${id}`, { role: 'support' }),
    'a ban': (app, id) => asAdmin(app, 'PUT', `/admin/users/${id}`, { ban_duration: '1h' }),
    'a sign-out by an admin': (app, id) => asAdmin(app, 'DELETE', `/admin/users/${id}/sessions`),
    'a deletion': (app, id) => asAdmin(app, 'DELETE', `/admin/users/${id}`),
    'a soft deletion': (app, id) =>
      asAdmin(app, 'DELETE', `/admin/users/${id}`, { should_soft_delete: true }),
  }
  for (const [what, end] of Object.entries(ends)) {
    test(`ends the impersonations of an admin with ${what}`, async () => {
      const app = await server()
      const admin = await createAdmin(app, 'operator')
      const { user } = await signUpUser(app)
      const opened = await admin.request('POST', `/admin/users/${user.id}/impersonate`)
      assert.equal(opened.statusCode, 200, opened.body)
      const session = opened.json<Session>()
      assert.equal((await getUser(app, session)).statusCode, 200)
      const ended = await end(app, admin.id)
      assert.ok(ended.statusCode < 300, ended.body)
      assert.equal((await getUser(app, session)).statusCode, 403)
      assert.equal((await refresh(app, session.refresh_token)).statusCode, 400)
    })
  }

  test('rejects the write of an admin who was demoted while the request waited', async () => {
    const app = await server()
    const admin = await createAdmin(app, 'operator')
    const { user } = await signUpUser(app)
    const url = `/admin/users/${user.id}`
    const lock = await lockUserRow(app, admin.id)
    const change = () => admin.request('PUT', url, { user_metadata: { city: 'Bonn' } })
    const late = await lock.queue(1, change)
    await lock.query(`update auth.postern_admins set role = 'support' where user_id = $1`, [
      admin.id,
    ])
    await lock.release()
    assert.deepEqual(statusAndCode(await late.response), required)
    assert.deepEqual((await adminCall(app, 'GET', url)).user_metadata.city, undefined)
  })

  test('rejects a write that waits for a transaction which demotes its admin', async () => {
    const app = await server()
    const admin = await createAdmin(app, 'operator')
    const { user } = await signUpUser(app)
    const lock = await lockUserRow(app, admin.id)
    const demotion = await lock.queue(1, () =>
      asAdmin(app, 'PUT', `/admin/admins/${admin.id}`, { role: 'support' }),
    )
    const change = await lock.queue(2, () => admin.request('DELETE', `/admin/users/${user.id}`))
    await lock.release()
    assert.equal((await demotion.response).statusCode, 200)
    assert.deepEqual(statusAndCode(await change.response), required)
    assert.equal((await asAdmin(app, 'GET', `/admin/users/${user.id}`)).statusCode, 200)
  })

  test('keeps one of two owners who remove each other concurrently', async () => {
    const app = await server()
    await removeAdmins(app)
    const [one, other] = [await createAdmin(app, 'owner'), await createAdmin(app, 'owner')]
    const lock = await lockRows(app.pool, 'select from auth.postern_admins for update', [])
    const first = await lock.queue(1, () => one.request('DELETE', `/admin/admins/${other.id}`))
    const second = await lock.queue(2, () => other.request('DELETE', `/admin/admins/${one.id}`))
    await lock.release()
    const responses = [(await first.response).statusCode, (await second.response).statusCode]
    assert.equal(responses.filter((status) => status === 204).length, 1, responses.join())
    const { admins } = await adminCall<{ admins: { role: AdminRole }[] }>(
      app,
      'GET',
      '/admin/admins',
    )
    assert.deepEqual(
      admins.map(({ role }) => role),
      ['owner'],
    )
  })

  test('AUTH_CONSOLE_REQUIRE_MFA rejects admins without a verified second factor', async () => {
    const { app } = await serverFor({ ...withConsole, AUTH_CONSOLE_REQUIRE_MFA: 'true' })
    const { request } = await createAdmin(app, 'owner')
    assert.deepEqual(statusAndCode(await request('GET', '/admin/users')), [
      403,
      'mfa_enrollment_required',
    ])
    assert.equal((await asAdmin(app, 'GET', '/admin/users')).statusCode, 200)
  })

  test('AUTH_CONSOLE_REQUIRE_MFA rejects users with an admin role without a second factor', async () => {
    const { app } = await serverFor({ ...withConsole, AUTH_CONSOLE_REQUIRE_MFA: 'true' })
    const user = { email: newAddress(), password, email_confirm: true, role: 'service_role' }
    const { id } = await adminCall<{ id: string }>(app, 'POST', '/admin/users', user)
    const listUsers = async () => send(app, 'GET', '/admin/users', await signedIn(app, user.email))
    assert.deepEqual(statusAndCode(await listUsers()), [403, 'mfa_enrollment_required'])
    // An entry in the table of admins changes nothing.
    await asAdmin(app, 'POST', '/admin/admins', { user_id: id, role: 'owner' })
    assert.deepEqual(statusAndCode(await listUsers()), [403, 'mfa_enrollment_required'])
    const session = await signedIn(app, user.email)
    const steppedUp = await stepUp(app, session, await addTotp(app, session))
    assert.equal((await send(app, 'GET', '/admin/users', steppedUp)).statusCode, 200)
    assert.deepEqual(statusAndCode(await listUsers()), [403, 'insufficient_aal'])
  })
})

function listPermitted(role: AdminRole): string[] {
  const roles = adminRoleNames.filter((minimum) => includesRole(role, minimum))
  return roles.flatMap((minimum) => endpointsByRole[minimum])
}

/** A response without a body has no error. */
function statusAndCodeOrBody(response: { statusCode: number; body: string; json: () => unknown }) {
  const isJson = response.body.startsWith('{')
  return isJson ? statusAndCode(response) : [response.statusCode, '']
}

async function listEndpoints(app: App): Promise<string[]> {
  const { paths } = (await app.inject('/openapi.json')).json<{ paths: Record<string, object> }>()
  return Object.entries(paths)
    .filter(([path]) => path.startsWith('/admin/') || path === '/invite')
    .flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    )
}
