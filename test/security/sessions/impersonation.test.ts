/** Requests that an impersonated session must not make, checked against all routes. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { RouteOptions } from 'fastify'

import type { Session } from '../../../schemas/session.ts'
import { adminCall } from '../../support/admin.ts'
import { passkeysOn } from '../../support/factors/passkeys.ts'
import { idTokenServer } from '../../support/id-token-server.ts'
import { shareServers } from '../../support/processes/shared-servers.ts'
import { changeUser, refresh, statusAndCode } from '../../support/requests.ts'
import type { App } from '../../support/server.ts'
import { autoconfirm, signUpUser } from '../../support/users.ts'

/** They change how a user signs in, or prepare such a change. */
const rejecting = [
  'GET /reauthenticate',
  'DELETE /user',
  'PUT /user/username',
  'GET /user/export',
  'GET /user/identities/authorize',
  'DELETE /user/identities/:identity_id',
  'POST /factors',
  'POST /factors/:factor_id/challenge',
  'POST /factors/:factor_id/verify',
  'DELETE /factors/:factor_id',
  'POST /factors/recovery_codes',
  'POST /factors/recovery_codes/verify',
  'POST /factors/recovery-codes',
  'POST /factors/recovery-codes/regenerate',
  'POST /factors/recovery-codes/verify',
  'DELETE /factors/recovery-codes',
  'POST /passkeys/registration/options',
  'POST /passkeys/registration/verify',
  'PATCH /passkeys/:passkey_id',
  'DELETE /passkeys/:passkey_id',
]

/** Routes that an impersonating admin may call: they change no sign-in method. */
const impersonatable = [
  'GET /user',
  // Metadata only; other fields are rejected, see below.
  'PUT /user',
  'GET /user/username',
  'POST /logout',
  'POST /logout/sso',
  'GET /sessions',
  'GET /factors/recovery_codes',
  'GET /factors/recovery-codes',
  'GET /passkeys',
  'DELETE /sessions/:id',
]

const sharedIdTokenServers = () => shareServers((ending, { env }) => idTokenServer(ending, env))

suite('impersonated session', () => {
  const servers = sharedIdTokenServers()

  test('is rejected or allowed explicitly by each user route', async () => {
    const { app, session } = await impersonated(servers)
    const found = await userRoutes(app, session.access_token)
    const names = found.map(getRouteName).toSorted()
    assert.deepEqual(names, [...rejecting, ...impersonatable].toSorted())
    for (const route of found) {
      const isRejecting = rejecting.includes(getRouteName(route))
      assert.equal(route.config?.rejectsImpersonation, isRejecting, getRouteName(route))
    }
  })

  test('is rejected by routes reserved for the user', async () => {
    const { app, session } = await impersonated(servers)
    for (const name of rejecting) {
      const response = await send(app, name, session.access_token)
      assert.deepEqual(statusAndCode(response), [403, 'session_impersonated'], name)
    }
  })

  const bodies = [
    { password: 'another correct horse' },
    { email: 'eve@example.com' },
    { phone: '+15005550006' },
    { app_metadata: { plan: 'gold' } },
  ]
  for (const body of bodies) {
    test(`is rejected by PUT /user ${JSON.stringify(body)}`, async () => {
      const { app, session } = await impersonated(servers, { AUTH_EXTERNAL_PHONE_ENABLED: 'true' })
      const role = { role: 'service_role' }
      await app.db.updateTable('users').set(role).where('id', '=', session.user.id).execute()
      const again = (await refresh(app, session.refresh_token)).json<Session>()
      const response = await changeUser(app, again.access_token, body)
      assert.deepEqual(statusAndCode(response), [403, 'session_impersonated'])
    })
  }

  test('cannot link an identity by an id_token', async () => {
    const { app, session, link } = await impersonated(servers)
    const response = await link(session.access_token)
    assert.deepEqual(statusAndCode(response), [403, 'session_impersonated'])
    const { identities } = await adminCall(app, 'GET', `/admin/users/${session.user.id}`)
    assert.deepEqual(
      identities?.map(({ provider }) => provider),
      ['email'],
    )
  })
})

async function impersonated(
  servers: ReturnType<typeof sharedIdTokenServers>,
  more: Record<string, string> = {},
) {
  const features = { AUTH_ADMIN_IMPERSONATION_ENABLED: 'true', AUTH_USERNAMES_ENABLED: 'true' }
  const env = { ...autoconfirm, ...passkeysOn, ...features, ...more }
  const server = await servers(env)
  const { user } = await signUpUser(server.app)
  const url = `/admin/users/${user.id}/impersonate`
  const session = await adminCall<Session>(server.app, 'POST', url, {})
  return { ...server, session }
}

interface Description {
  paths: Record<string, Record<string, { security?: object[] }>>
}

/** Routes that require a user token. */
async function userRoutes(app: App, token: string): Promise<RouteOptions[]> {
  const { paths } = (await app.inject('/openapi.json')).json<Description>()
  const found: RouteOptions[] = []
  for (const route of app.openapi.routes) {
    const path = route.url.replaceAll(/:(\w+)/g, '{$1}')
    const operation = paths[path]?.[String(route.method).toLowerCase()]
    const isGuarded = (operation?.security ?? []).length > 0
    // Admin routes reject it before other checks.
    const response = isGuarded ? await send(app, getRouteName(route), token) : undefined
    if (response && !response.body.includes('"not_admin"')) found.push(route)
  }
  return found
}

const getRouteName = ({ method, url }: RouteOptions) => `${method} ${url}`

function send(app: App, name: string, token: string) {
  const [method, path = ''] = name.split(' ')
  const url = path.replaceAll(/:\w+/g, crypto.randomUUID())
  const headers = { authorization: `Bearer ${token}` }
  const isBodiless = method === 'GET' || method === 'DELETE'
  return app.inject({ method: method as 'GET', url, headers, ...(!isBodiless && { payload: {} }) })
}
