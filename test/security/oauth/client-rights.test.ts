/** What the token of a client lets it read: a client that registered itself identifies the user, and nothing else. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { asAdmin } from '../../support/admin.ts'
import {
  createClient,
  decodeClaims,
  makePkce,
  oauthServer,
  openRegistration,
  ownConsentPage,
  postForm,
  refreshTokens,
  registerClient,
  signInClient,
  startAuthorization,
} from '../../support/oauth-server.ts'
import { authorizeUrl, signedInBrowser } from '../../support/page-browser.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call } from '../../support/requests.ts'
import { type App, build } from '../../support/server.ts'
import { signUpUser } from '../../support/users.ts'
import { functionEnv, makeFunction } from '../../support/webhooks/hook-functions.ts'

const resource = 'https://mcp.example.com'
const own = { ...openRegistration, ...ownConsentPage, AUTH_OAUTH_SERVER_RESOURCES: resource }
const allowed = { ...own, AUTH_OAUTH_SERVER_SELF_REGISTERED_CLIENTS_DATA_ACCESS: 'true' }

/** The rows of a table whose policy shows each user their own, read with the claims of a token. */
async function countRows(app: App, token: string): Promise<number> {
  const claims = decodeClaims(token)
  const client = await app.pool.connect()
  try {
    await client.query('begin')
    await client.query(`create table public.notes (owner uuid)`)
    await client.query(`alter table public.notes enable row level security`)
    await client.query(`grant select on public.notes to public`)
    await client.query(`create policy own on public.notes for select using (auth.uid() = owner)`)
    await client.query(`insert into public.notes values ($1)`, [claims.sub])
    await client.query(`select set_config('request.jwt.claims', $1, true)`, [
      JSON.stringify(claims),
    ])
    await client.query(`select set_config('role', $1, true)`, [claims.role])
    const { rowCount } = await client.query('select from public.notes')
    return rowCount ?? 0
  } catch (error) {
    const isUnknownRole = error instanceof Error && /role .* does not exist/.test(error.message)
    if (!isUnknownRole) throw error
    return 0
  } finally {
    await client.query('rollback')
    client.release()
  }
}

suite('the access token of a client', () => {
  const serverFor = sharedServers()

  test('that registered itself has no rights in the database and no audience of users', async () => {
    const { app } = await serverFor(own)
    const user = await signUpUser(app)
    await asAdmin(app, 'PUT', `/admin/users/${user.user.id}`, { app_metadata: { plan: 'x' } })
    const client = await registerClient(app)
    for (const asked of [{}, { resource }]) {
      const tokens = await signInClient(app, client, user, { scope: 'openid', ...asked })
      const refreshed = (await refreshTokens(app, client, tokens.refresh_token)).json()
      for (const token of [tokens.access_token, refreshed.access_token]) {
        const { aud, role, app_metadata, sub } = decodeClaims(token)
        const expected = 'resource' in asked ? resource : app.jwt.issuer
        assert.deepEqual([aud, role, app_metadata], [expected, 'oauth_client', {}])
        assert.equal(sub, user.user.id)
        assert.equal(await countRows(app, token), 0)
        const headers = { authorization: `Bearer ${token}` }
        assert.equal((await app.inject({ url: '/oauth/userinfo', headers })).statusCode, 200)
      }
    }
  })

  test('of the operator has those of the user', async () => {
    const { app } = await serverFor(own)
    const user = await signUpUser(app)
    const tokens = await signInClient(app, await createClient(app), user, { scope: 'openid' })
    const { aud, role } = decodeClaims(tokens.access_token)
    assert.deepEqual([aud, role], ['authenticated', 'authenticated'])
    assert.equal(await countRows(app, tokens.access_token), 1)
  })

  test('that registered itself has those of the user where the operator allows it, for all or for one', async () => {
    const { app } = await serverFor(allowed)
    const user = await signUpUser(app)
    const tokens = await signInClient(app, await registerClient(app), user, { resource })
    const { aud, role } = decodeClaims(tokens.access_token)
    assert.deepEqual([aud, role], [[resource, 'authenticated'], 'authenticated'])
    const { app: strict } = await serverFor(own)
    const client = await registerClient(strict)
    const path = `/admin/oauth/clients/${client.client_id}`
    const changed = await asAdmin(strict, 'PUT', path, { include_default_audience: true })
    assert.equal(changed.statusCode, 200, changed.body)
    const other = await signInClient(strict, client, await signUpUser(strict))
    assert.equal(decodeClaims(other.access_token).role, 'authenticated')
  })

  test('cannot be widened by the client itself', async () => {
    const { app } = await serverFor(own)
    const client = await registerClient(app, { include_default_audience: true, role: 'x' })
    const tokens = await signInClient(app, client, await signUpUser(app))
    assert.equal(decodeClaims(tokens.access_token).role, 'oauth_client')
  })

  test('that registered itself is not widened by a hook for the tokens of users', async (t) => {
    const hook = functionEnv('CUSTOM_ACCESS_TOKEN', 'widen')
    const { app } = await build(t, { env: { ...own, ...hook } })
    await makeFunction(
      app,
      'widen',
      `declare claims jsonb := event->'claims' || '{"role": "authenticated", "aud": "authenticated", "plan": "x"}';
      begin return jsonb_build_object('claims', claims); end;`,
    )
    const user = await signUpUser(app)
    for (const [client, expected] of [
      [await registerClient(app), ['oauth_client', app.jwt.issuer, 'x']],
      [await createClient(app), ['authenticated', 'authenticated', 'x']],
    ] as const) {
      const tokens = await signInClient(app, client, user)
      const refreshed = (await refreshTokens(app, client, tokens.refresh_token)).json()
      for (const { access_token } of [tokens, refreshed]) {
        const { role, aud, plan } = decodeClaims(access_token)
        assert.deepEqual([role, aud, plan], expected)
      }
    }
  })

  test('is announced on the consent page and in the details where it reads and changes data', async () => {
    const { app: hosted } = await serverFor({ ...oauthServer, ...openRegistration })
    const line = /read and change your data in app\.example/
    const browser = await signedInBrowser(hosted, (await signUpUser(hosted)).email)
    const show = async (client: { client_id: string }) =>
      (await browser.open(authorizeUrl(client, makePkce().challenge))).html
    assert.match(await show(await createClient(hosted)), line)
    assert.doesNotMatch(await show(await registerClient(hosted)), line)
    const { app } = await serverFor(own)
    const { access_token: token } = await signUpUser(app)
    const pkce = { code_challenge: makePkce().challenge, code_challenge_method: 'S256' }
    const narrow = { resources: [resource], include_default_audience: false }
    const cases = [
      [await createClient(app), {}, true],
      [await registerClient(app), {}, false],
      [await createClient(app, narrow), { resource }, false],
      [await createClient(app, narrow), {}, true],
    ] as const
    for (const [client, asked, expected] of cases) {
      const id = await startAuthorization(app, client, { ...pkce, ...asked })
      const details = await call(app, `/oauth/authorizations/${id}`, undefined, { token })
      assert.equal(details.json().data_access, expected)
    }
  })

  test('is announced on the page that connects a device', async () => {
    const { app } = await serverFor({ ...oauthServer, ...openRegistration })
    const grant_types = ['urn:ietf:params:oauth:grant-type:device_code']
    const fields = { grant_types, token_endpoint_auth_method: 'none' }
    const browser = await signedInBrowser(app, (await signUpUser(app)).email)
    for (const [client, isAnnounced] of [
      [await createClient(app, fields), true],
      [await registerClient(app, fields), false],
    ] as const) {
      const { client_id } = client
      const asked = await postForm(app, '/oauth/device_authorization', { client_id })
      const form = await browser.open('/oauth/device')
      const { user_code } = asked.json()
      const { html } = await browser.submit(form, { action: 'look_up', user_code })
      assert.equal(/read and change your data/.test(html), isAnnounced)
    }
  })
})
