/** What an admin in the place of a person may not do, held against every route there is. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import type { RouteOptions } from 'fastify'

import type { Session } from '../../schemas/session.ts'
import { adminCall } from '../support/admin.ts'
import { idTokenServer } from '../support/id-token-server.ts'
import { passkeysOn } from '../support/passkeys.ts'
import { autoconfirm, newPerson } from '../support/people.ts'
import { changeUser, outcomeOf, refresh } from '../support/requests.ts'
import type { App } from '../support/server.ts'

/** They change how a person signs in, or are of use for that alone. */
const themselves = [
  'GET /reauthenticate',
  'DELETE /user',
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

/** They change nothing of the kind. */
const anybody = [
  'GET /user',
  // Metadata only; the rest is refused by what the body asks for, below.
  'PUT /user',
  'POST /logout',
  'GET /sessions',
  'GET /factors/recovery_codes',
  'GET /factors/recovery-codes',
  'GET /passkeys',
  'DELETE /sessions/:id',
]

suite('an impersonated session', () => {
  test('every route for signed-in people is in one of the lists, and says the same of itself', async (t) => {
    const { app, session } = await impersonated(t)
    const found = await personRoutes(app, session.access_token)
    const names = found.map(nameOf).toSorted()
    assert.deepEqual(names, [...themselves, ...anybody].toSorted())
    for (const route of found) {
      const isTheirs = themselves.includes(nameOf(route))
      assert.equal(route.config?.themselves, isTheirs, nameOf(route))
    }
  })

  test('is refused by those that are for the person', async (t) => {
    const { app, session } = await impersonated(t)
    for (const name of themselves) {
      const response = await ask(app, name, session.access_token)
      assert.deepEqual(outcomeOf(response), [403, 'session_impersonated'], name)
    }
  })

  const bodies = [
    { password: 'another correct horse' },
    { email: 'eve@example.com' },
    { phone: '+15005550006' },
    { app_metadata: { plan: 'gold' } },
  ]
  for (const body of bodies) {
    test(`PUT /user ${JSON.stringify(body)} is refused`, async (t) => {
      const { app, session } = await impersonated(t, { AUTH_EXTERNAL_PHONE_ENABLED: 'true' })
      const role = { role: 'service_role' }
      await app.db.updateTable('users').set(role).where('id', '=', session.user.id).execute()
      const again = (await refresh(app, session.refresh_token)).json<Session>()
      const response = await changeUser(app, again.access_token, body)
      assert.deepEqual(outcomeOf(response), [403, 'session_impersonated'])
    })
  }

  test('gets no way to sign in by an id_token, and no session without its mark', async (t) => {
    const { app, session, link } = await impersonated(t)
    const response = await link(session.access_token)
    assert.deepEqual(outcomeOf(response), [403, 'session_impersonated'])
    const { identities } = await adminCall(app, 'GET', `/admin/users/${session.user.id}`)
    assert.deepEqual(
      identities?.map(({ provider }) => provider),
      ['email'],
    )
  })
})

async function impersonated(t: TestContext, more: Record<string, string> = {}) {
  const env = { ...autoconfirm, ...passkeysOn, AUTH_ADMIN_IMPERSONATION_ENABLED: 'true', ...more }
  const server = await idTokenServer(t, env)
  const { user } = await newPerson(server.app)
  const url = `/admin/users/${user.id}/impersonate`
  const session = await adminCall<Session>(server.app, 'POST', url, {})
  return { ...server, session }
}

interface Description {
  paths: Record<string, Record<string, { security?: object[] }>>
}

/** The routes that ask for a token, and not for that of an admin. */
async function personRoutes(app: App, token: string): Promise<RouteOptions[]> {
  const { paths } = (await app.inject('/openapi.json')).json<Description>()
  const found: RouteOptions[] = []
  for (const route of app.openapi.routes) {
    const path = route.url.replaceAll(/:(\w+)/g, '{$1}')
    const isGuarded = paths[path]?.[String(route.method).toLowerCase()]?.security !== undefined
    // Those for admins say so before anything else of the request is read.
    const answer = isGuarded ? await ask(app, nameOf(route), token) : undefined
    if (answer && !answer.body.includes('"not_admin"')) found.push(route)
  }
  return found
}

const nameOf = ({ method, url }: RouteOptions) => `${method} ${url}`

function ask(app: App, name: string, token: string) {
  const [method, path = ''] = name.split(' ')
  const url = path.replaceAll(/:\w+/g, crypto.randomUUID())
  const headers = { authorization: `Bearer ${token}` }
  const isBodiless = method === 'GET' || method === 'DELETE'
  return app.inject({ method: method as 'GET', url, headers, ...(!isBodiless && { payload: {} }) })
}
