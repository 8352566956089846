/** Linking identities of providers that an admin added while the server was running. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import {
  add,
  authorizeUrl,
  customOnLoopback,
  emptied,
  finishSignIn,
  oidcInput,
} from '../../support/custom-providers/requests.ts'
import { shareServers } from '../../support/processes/shared-servers.ts'
import { client, startFakeProvider } from '../../support/providers/fake-provider.ts'
import { signIdToken } from '../../support/providers/keys.ts'
import { signInAs, startOpenidProvider } from '../../support/providers/openid-provider.ts'
import { bearer, call, getUser, statusAndCode } from '../../support/requests.ts'
import { type App, build } from '../../support/server.ts'
import { signUpUser } from '../../support/users.ts'

const env = {
  ...customOnLoopback.env,
  AUTH_MAILER_AUTOCONFIRM: 'true',
  AUTH_SECURITY_MANUAL_LINKING_ENABLED: 'true',
}

const authorizeLink = (app: App, session: { access_token: string }, provider = 'custom:acme') =>
  app.inject({
    url: `/user/identities/authorize?provider=${provider}&skip_http_redirect=true`,
    headers: bearer(session),
  })

suite('linking to a custom provider', () => {
  const servers = shareServers((ending) => build(ending, { dev: true, env }))

  async function withOidc(t: TestContext, more: object = {}) {
    const { issuer } = await startOpenidProvider(t, { claimsInIdToken: true, https: true })
    const { app } = await emptied(await servers())
    await add(app, oidcInput(issuer, more))
    return { app }
  }

  test('adds the identity to the signed-in user, who can sign in with it', async (t) => {
    const { app } = await withOidc(t)
    const session = await signUpUser(app)
    const started = await authorizeLink(app, session)
    assert.equal(started.statusCode, 200, started.body)
    const redirect = await finishSignIn(app, await signInAs('bob', new URL(started.json().url)))
    assert.ok(redirect.access_token, JSON.stringify(redirect))
    const user = (await getUser(app, session)).json()
    assert.deepEqual(user.app_metadata.providers, ['email', 'custom:acme'])
    assert.equal(user.email, session.email)
    const fields = await signInAs('bob', await authorizeUrl(app, 'custom:acme'))
    const again = await finishSignIn(app, fields)
    const headers = { authorization: `Bearer ${again.access_token}` }
    assert.equal((await app.inject({ url: '/user', headers })).json().id, user.id)
  })

  test('rejects the identity of another user', async (t) => {
    const { app } = await withOidc(t)
    await finishSignIn(app, await signInAs('bob', await authorizeUrl(app, 'custom:acme')))
    const session = await signUpUser(app)
    const started = await authorizeLink(app, session)
    const redirect = await finishSignIn(app, await signInAs('bob', new URL(started.json().url)))
    assert.equal(redirect.error_code, 'identity_already_exists')
    assert.equal((await getUser(app, session)).json().identities.length, 1)
  })

  test('removes a linked identity', async (t) => {
    const { app } = await withOidc(t)
    const session = await signUpUser(app)
    const started = await authorizeLink(app, session)
    await finishSignIn(app, await signInAs('bob', new URL(started.json().url)))
    const identities: { provider: string; identity_id: string }[] = (
      await getUser(app, session)
    ).json().identities
    const linked = identities.find(({ provider }) => provider === 'custom:acme')
    const url = `/user/identities/${linked?.identity_id}`
    const removed = await app.inject({ method: 'DELETE', url, headers: bearer(session) })
    assert.equal(removed.statusCode, 200, removed.body)
    assert.equal((await getUser(app, session)).json().identities.length, 1)
  })

  test('adds the identity of an ID token', async (t) => {
    const { issuer } = await startFakeProvider(t, {
      ...tokens,
      idToken: { issuer: '', claims: {} },
    })
    const { app } = await emptied(await servers())
    await add(app, oidcInput(issuer))
    const session = await signUpUser(app)
    const account = { iss: issuer, aud: client.id, sub: 'carol', email: 'carol@ex.test' }
    const id_token = await signIdToken({ ...account, email_verified: true }, new Date())
    const body = { provider: 'custom:acme', id_token, link_identity: true }
    const { access_token: token } = session
    const response = await call(app, '/token?grant_type=id_token', body, { token })
    assert.equal(response.statusCode, 200, response.body)
    const { providers } = (await getUser(app, session)).json().app_metadata
    assert.deepEqual(providers, ['email', 'custom:acme'])
  })

  test('rejects a provider that is disabled or unknown', async (t) => {
    const { app } = await withOidc(t, { enabled: false })
    const session = await signUpUser(app)
    for (const provider of ['custom:acme', 'custom:unknown']) {
      const response = await authorizeLink(app, session, provider)
      assert.deepEqual(statusAndCode(response), [400, 'validation_failed'], provider)
    }
  })
})

const tokens = {
  authorize: '/authorize',
  scope: 'read',
  pkce: true,
  token: '/token',
  clientAuth: 'basic' as const,
  https: true,
  api: {},
}
