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
import { scimOn } from '../../support/scim/clients.ts'
import type { App } from '../../support/server.ts'
import { autoconfirm, signUpUser } from '../../support/users.ts'

const organization = '/organizations/:organization_id'

/** They give access to the account, to an organization or to a client, or prepare that; or they hand out its data. */
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
  'GET /oauth/authorizations/:authorization_id',
  'POST /oauth/authorizations/:authorization_id/consent',
  'DELETE /user/oauth/grants',
  'POST /organizations',
  'POST /organizations/invitations/accept',
  'POST /organizations/invitations/:invitation_id/accept',
  'POST /organizations/invitations/:invitation_id/decline',
  `PUT ${organization}`,
  `DELETE ${organization}`,
  `POST ${organization}/join`,
  `POST ${organization}/leave`,
  `PUT ${organization}/members/:user_id`,
  `DELETE ${organization}/members/:user_id`,
  `POST ${organization}/invitations`,
  `DELETE ${organization}/invitations/:invitation_id`,
  `POST ${organization}/roles`,
  `PUT ${organization}/roles/:role`,
  `DELETE ${organization}/roles/:role`,
  `POST ${organization}/domains`,
  `POST ${organization}/domains/:domain_id/send_code`,
  `POST ${organization}/domains/:domain_id/verify`,
  `DELETE ${organization}/domains/:domain_id`,
  `PUT ${organization}/connections/:connection_id`,
  `DELETE ${organization}/connections/:connection_id`,
  `PUT ${organization}/groups/:group_id`,
]

/** Routes that an impersonating admin may call: they give no access. */
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
  'GET /user/oauth/grants',
  // Of the impersonated session, which ends within minutes.
  'PUT /user/sessions/current',
  'GET /organizations',
  'GET /organizations/suggestions',
  'GET /organizations/invitations',
  `GET ${organization}`,
  `GET ${organization}/members`,
  `GET ${organization}/members/:user_id`,
  `GET ${organization}/invitations`,
  `GET ${organization}/roles`,
  `GET ${organization}/domains`,
  `GET ${organization}/connections`,
  `GET ${organization}/groups`,
  `GET ${organization}/audit`,
]

const sharedIdTokenServers = () => shareServers((ending, { env }) => idTokenServer(ending, env))

suite('impersonated session', () => {
  const servers = sharedIdTokenServers()

  test('is rejected or allowed explicitly by each route that accepts a user’s token', async () => {
    const { app, session } = await impersonated(servers)
    const found = await userRoutes(app, session.access_token)
    const names = found.map(getRouteName).toSorted()
    assert.deepEqual(names, [...rejecting, ...impersonatable].toSorted())
    for (const route of found) {
      const isRejecting = rejecting.includes(getRouteName(route))
      assert.equal(route.config?.rejectsImpersonation !== false, isRejecting, getRouteName(route))
    }
  })

  test('is rejected by every route that gives access', async () => {
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

const features = Object.fromEntries(
  [
    'AUTH_ADMIN_IMPERSONATION_ENABLED',
    'AUTH_USERNAMES_ENABLED',
    'AUTH_OAUTH_SERVER_ENABLED',
    'AUTH_ACCOUNT_PAGE_ENABLED',
    'AUTH_CONSOLE_ENABLED',
  ].map((name) => [name, 'true']),
)

async function impersonated(
  servers: ReturnType<typeof sharedIdTokenServers>,
  more: Record<string, string> = {},
) {
  const env = { ...autoconfirm, ...passkeysOn, ...scimOn, ...features, ...more }
  const server = await servers(env)
  const { user } = await signUpUser(server.app)
  const url = `/admin/users/${user.id}/impersonate`
  const session = await adminCall<Session>(server.app, 'POST', url, {})
  return { ...server, session }
}

/** Routes that require a token, and reject a user's for no other reason than the request. */
async function userRoutes(app: App, token: string): Promise<RouteOptions[]> {
  const found: RouteOptions[] = []
  for (const route of app.openapi.routes.filter(isSendable)) {
    const name = getRouteName(route)
    const isGuarded = codeIn(await send(app, name)) === 'no_authorization'
    // Admin routes reject it before other checks.
    if (isGuarded && codeIn(await send(app, name, token)) !== 'not_admin') found.push(route)
  }
  return found
}

const getRouteName = ({ method, url }: RouteOptions) => `${method} ${url}`

/** Responses below /dev never end. */
const isSendable = ({ method, url }: RouteOptions) =>
  ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].includes(String(method)) && !url.startsWith('/dev/')

function codeIn({ body }: { body: string }): string | undefined {
  return /"error_code":"(\w+)"/.exec(body)?.[1]
}

function send(app: App, name: string, token?: string) {
  const [method, path = ''] = name.split(' ')
  const url = path.replaceAll(/:\w+/g, crypto.randomUUID())
  const headers = token ? { authorization: `Bearer ${token}` } : {}
  const isBodiless = method === 'GET' || method === 'DELETE'
  return app.inject({ method: method as 'GET', url, headers, ...(!isBodiless && { payload: {} }) })
}
