/** A change of who receives codes and tokens: by an admin who is no owner, or with a stolen registration token. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { OauthClient } from '../../../schemas/oauth/client.ts'
import { asAdmin } from '../../support/admin.ts'
import { createAdmin, withConsole } from '../../support/admins.ts'
import { nextEmail } from '../../support/messages/mail-journeys.ts'
import {
  callbackUrl,
  createClient,
  makePkce,
  openRegistration,
  ownConsentPage,
  refreshTokens,
  registerClient,
  signInClient,
  startAuthorization,
} from '../../support/oauth-server.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call, statusAndCode } from '../../support/requests.ts'
import type { App } from '../../support/server.ts'
import { signUpUser } from '../../support/users.ts'

const evil = 'https://evil.example/landing'

const env = {
  ...withConsole,
  ...openRegistration,
  ...ownConsentPage,
  AUTH_MAILER_NOTIFICATIONS_OAUTH_CLIENT_ENABLED: 'true',
}

type Session = { access_token: string }

/** Whether the client gets a code without a page. */
async function isSilent(app: App, client: OauthClient, user: Session, redirect_uri = callbackUrl) {
  const pkce = { code_challenge: makePkce().challenge, code_challenge_method: 'S256' }
  const id = await startAuthorization(app, client, { ...pkce, redirect_uri, scope: 'email' })
  const { access_token: token } = user
  const details = await call(app, `/oauth/authorizations/${id}`, undefined, { token })
  assert.equal(details.statusCode, 200, details.body)
  return details.json().redirect_url !== undefined
}

async function consented(app: App, client: OauthClient): Promise<Session> {
  const user = await signUpUser(app)
  await signInClient(app, client, user, { scope: 'email' })
  assert.equal(await isSilent(app, client, user), true)
  return user
}

suite('a changed OAuth client', () => {
  const serverFor = sharedServers()
  const server = () => serverFor(env)

  const changes: Record<string, object> = {
    'redirect URIs': { redirect_uris: [callbackUrl, evil] },
    'a removed redirect URI': { redirect_uris: [callbackUrl] },
    'a name': { client_name: 'Bank' },
    'the audience of user tokens': { include_default_audience: true },
  }
  for (const [what, change] of Object.entries(changes)) {
    test(`asks for consent again after a change of ${what}`, async () => {
      const { app } = await server()
      const client = await createClient(app, {
        redirect_uris: [callbackUrl, 'https://b.example/'],
        include_default_audience: false,
      })
      const user = await consented(app, client)
      const path = `/admin/oauth/clients/${client.client_id}`
      const changed = await asAdmin(app, 'PUT', path, change)
      assert.equal(changed.statusCode, 200, changed.body)
      assert.equal(await isSilent(app, client, user), false)
      await signInClient(app, client, user, { scope: 'email', prompt: 'consent' })
      assert.equal(await isSilent(app, client, user), true, 'after the new consent')
    })
  }

  test('does not ask again after a change that gives no access', async () => {
    const { app } = await server()
    const client = await createClient(app)
    const user = await consented(app, client)
    const path = `/admin/oauth/clients/${client.client_id}`
    const change = { redirect_uris: [callbackUrl], tos_uri: 'https://app.example/terms' }
    assert.equal((await asAdmin(app, 'PUT', path, change)).statusCode, 200)
    assert.equal(await isSilent(app, client, user), true)
  })

  test('gives no silent code to the holder of a registration token', async () => {
    const { app } = await server()
    const client = await registerClient(app)
    const user = await consented(app, client)
    const changed = await app.inject({
      method: 'PUT',
      url: new URL(client.registration_client_uri ?? '').pathname,
      headers: { authorization: `Bearer ${client.registration_access_token}` },
      payload: { client_name: 'Self', redirect_uris: [callbackUrl, evil] },
    })
    assert.equal(changed.statusCode, 200, changed.body)
    assert.equal(await isSilent(app, client, user, evil), false)
    assert.equal(await isSilent(app, client, user), false)
  })

  const decisive: Record<string, object> = {
    'its redirect URIs': { redirect_uris: [callbackUrl, evil] },
    'its keys': { jwks: { keys: [{ kty: 'EC', crv: 'P-256', x: 'x', y: 'y' }] } },
    'the address of its keys': { jwks_uri: 'https://evil.example/jwks.json' },
    'its authentication': { token_endpoint_auth_method: 'client_secret_post' },
    'its audience': { include_default_audience: true },
  }
  test('that an admin created is changed in these parts by owners only', async () => {
    const { app } = await server()
    const operator = await createAdmin(app, 'operator')
    const client = await createClient(app, { include_default_audience: false })
    const path = `/admin/oauth/clients/${client.client_id}`
    for (const [what, change] of Object.entries(decisive)) {
      const refused = await operator.request('PUT', path, change)
      assert.deepEqual(statusAndCode(refused), [403, 'admin_role_required'], what)
    }
    const shown = (await asAdmin(app, 'GET', path)).json()
    assert.deepEqual(shown.redirect_uris, [callbackUrl], 'nothing was stored')
    const allowed = await operator.request('PUT', path, { tos_uri: 'https://app.example/terms' })
    assert.equal(allowed.statusCode, 200, allowed.body)
    const registered = await registerClient(app)
    const own = `/admin/oauth/clients/${registered.client_id}`
    const moved = await operator.request('PUT', own, { redirect_uris: [callbackUrl, evil] })
    assert.equal(moved.statusCode, 200, moved.body)
  })

  test('keeps its sessions with a new secret for owners only', async () => {
    const { app } = await server()
    const operator = await createAdmin(app, 'operator')
    const client = await createClient(app)
    const tokens = await signInClient(app, client, await signUpUser(app))
    const path = `/admin/oauth/clients/${client.client_id}/regenerate_secret`
    const refused = await operator.request('POST', path, { keep_sessions: true })
    assert.deepEqual(statusAndCode(refused), [403, 'admin_role_required'])
    assert.equal((await refreshTokens(app, client, tokens.refresh_token)).statusCode, 200)
    const renewed = await operator.request('POST', path, {})
    assert.equal(renewed.statusCode, 200, renewed.body)
    const after = { ...client, client_secret: renewed.json().client_secret }
    const ended = await refreshTokens(app, after, tokens.refresh_token)
    assert.equal(ended.json().error, 'invalid_grant')
  })

  test('is reported to every owner of the server', async () => {
    const built = await server()
    const { app } = built
    const [owner, colleague] = [await createAdmin(app, 'owner'), await createAdmin(app, 'owner')]
    const client = await createClient(app, { client_name: 'Payroll' })
    const path = `/admin/oauth/clients/${client.client_id}`
    const told = [owner, colleague].map(({ email }) => nextEmail(built, email))
    const changed = await owner.request('PUT', path, { redirect_uris: [callbackUrl, evil] })
    assert.equal(changed.statusCode, 200, changed.body)
    for (const { mail } of await Promise.all(told)) {
      assert.match(mail.text ?? '', /Payroll[\s\S]*redirect_uris/)
    }
  })
})
