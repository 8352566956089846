/** Signing in through providers that an admin added while the server was running. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { decodeJwt } from 'jose'

import {
  add,
  authorizeUrl,
  customOnLoopback,
  emptied,
  finishSignIn,
  oauth2Input,
  oidcInput,
  send,
} from '../../support/custom-providers/requests.ts'
import { cloneDatabase } from '../../support/database.ts'
import { shareServers } from '../../support/processes/shared-servers.ts'
import { followAuthorization } from '../../support/providers/browser.ts'
import { client, ownRedirectUri, startFakeProvider } from '../../support/providers/fake-provider.ts'
import { signIdToken } from '../../support/providers/keys.ts'
import { signInAs, startOpenidProvider } from '../../support/providers/openid-provider.ts'
import { statusAndCode } from '../../support/requests.ts'
import { build } from '../../support/server.ts'

const documented = {
  authorize: '/authorize',
  scope: 'read',
  pkce: true,
  token: '/token',
  clientAuth: 'basic' as const,
  https: true,
  api: {
    '/userinfo': {
      body: { id: 77, login: 'ann', mail: 'ann@ex.test', email_verified: true, team: 'blue' },
    },
  },
}

const plainClient = { ...client, redirectUri: ownRedirectUri('custom:plain') }

const plainFields = async (app: App) =>
  followAuthorization((await authorizeUrl(app, 'custom:plain')).href, plainClient.redirectUri)

const finishPlain = (app: App, fields: Record<string, string>) =>
  finishSignIn(app, fields, '/providers/custom:plain/callback')

const mapping = { sub: 'id', name: 'login', nickname: 'login', locale: 7 }

const nested = {
  data: [
    { id: 77, account: { mail: 'ann@ex.test', email_verified: true, profile: { nick: 'ann' } } },
  ],
  email: 'another@ex.test',
  email_verified: true,
  'https://ex.test/claims/picture': 'https://ex.test/ann.png',
}

suite('custom OpenID Connect provider', () => {
  const { withOidc, withTokens } = customServers()

  test('signs in by /authorize and /callback', async (t) => {
    const { app, issuer } = await withOidc(t)
    const added = await add(app, oidcInput(issuer))
    assert.equal(added.discovery_document.issuer, issuer)
    const fields = await signInAs('ann', await authorizeUrl(app, 'custom:acme'))
    const redirect = await finishSignIn(app, fields)
    assert.equal(redirect.provider, 'custom:acme')
    const claims = decodeJwt(redirect.access_token ?? '')
    assert.equal(claims.email, 'ann@ex.test')
    assert.deepEqual(claims.app_metadata, { provider: 'custom:acme', providers: ['custom:acme'] })
  })

  test('requests the scopes of the request instead of the stored ones, and always openid', async (t) => {
    const { app, issuer } = await withOidc(t)
    await add(app, oidcInput(issuer, { authorization_params: { prompt: 'login', theme: 'dark' } }))
    const query = { scopes: 'email', prompt: 'none', redirect_to: 'http://app.example/x', hd: 'y' }
    const url = await authorizeUrl(app, 'CUSTOM:acme', query)
    const { state, nonce, code_challenge, ...sent } = Object.fromEntries(url.searchParams)
    assert.deepEqual(sent, {
      client_id: client.id,
      code_challenge_method: 'S256',
      hd: 'y',
      prompt: 'login',
      redirect_uri: ownRedirectUri('custom:acme'),
      response_type: 'code',
      scope: 'openid email',
      theme: 'dark',
    })
    assert.ok(state && nonce && code_challenge)
  })

  test('uses a discovery document at another URL', async (t) => {
    const { app, issuer } = await withOidc(t)
    const discovery_url = `${issuer}/.well-known/openid-configuration?tenant=1`
    await add(app, oidcInput(issuer, { discovery_url }))
    const fields = await signInAs('ann', await authorizeUrl(app, 'custom:acme'))
    assert.ok((await finishSignIn(app, fields)).access_token)
  })

  test('maps claims to the metadata, but not to email or id', async (t) => {
    const { app, issuer } = await withOidc(t)
    const attribute_mapping = { full_name: 'name', sub: 'email', email: 'name', website: 7 }
    const more = { attribute_mapping, custom_claims_allowlist: ['auth_time', 'absent'] }
    await add(app, oidcInput(issuer, more))
    const fields = await signInAs('ann', await authorizeUrl(app, 'custom:acme'))
    await finishSignIn(app, fields)
    const identity = await findIdentity(app, 'custom:acme')
    assert.equal(identity.provider_id, 'ann')
    const { sub, email, full_name } = identity.identity_data
    assert.deepEqual([sub, email, full_name], ['ann', 'ann@ex.test', 'Ann Lee'])
  })

  test('applies changes on each replica', async (t) => {
    const { issuer } = await startOpenidProvider(t, { claimsInIdToken: true, https: true })
    const database = await cloneDatabase()
    const one = await build(t, { ...customOnLoopback, database })
    const two = await build(t, { ...customOnLoopback, database })
    await add(one.app, oidcInput(issuer))
    await authorizeUrl(two.app, 'custom:acme')
    await send(one.app, 'PUT', '/custom:acme', { client_id: 'another' })
    const url = await authorizeUrl(two.app, 'custom:acme')
    assert.equal(url.searchParams.get('client_id'), 'another')
    await send(one.app, 'PUT', '/custom:acme', { enabled: false })
    const rejected = await two.app.inject('/authorize?provider=custom:acme')
    assert.deepEqual(statusAndCode(rejected), [400, 'validation_failed'])
    assert.match(rejected.json().msg, /^Unsupported provider: /)
  })

  test('rejects the callback of a provider that was disabled after the start', async (t) => {
    const { app, issuer } = await withOidc(t)
    await add(app, oidcInput(issuer))
    const fields = await signInAs('ann', await authorizeUrl(app, 'custom:acme'))
    await send(app, 'PUT', '/custom:acme', { enabled: false })
    assert.equal((await finishSignIn(app, fields)).error_code, 'oauth_provider_not_supported')
  })

  test('accepts id_tokens for its client and its acceptable client ids only', async (t) => {
    const { app, issuer } = await withTokens(t)
    await add(app, oidcInput(issuer, { acceptable_client_ids: ['native'] }))
    for (const [aud, status] of [
      [client.id, 200],
      ['native', 200],
      ['another client', 400],
    ] as const) {
      const response = await byIdToken(app, issuer, { aud })
      assert.equal(response.statusCode, status, `${aud} ${response.body}`)
    }
  })

  test('rejects id_tokens of a disabled, an unknown and an OAuth 2.0 provider', async (t) => {
    const { app, issuer } = await withTokens(t)
    await add(app, oidcInput(issuer, { enabled: false }))
    await add(app, oauth2Input(issuer))
    assert.deepEqual(statusAndCode(await byIdToken(app, issuer)), [400, 'provider_disabled'])
    for (const provider of ['custom:unknown', 'custom:plain']) {
      const response = await byIdToken(app, issuer, {}, provider)
      assert.deepEqual(statusAndCode(response), [400, 'validation_failed'], provider)
    }
  })

  test('keeps its users when it is deleted', async (t) => {
    const { app, issuer } = await withOidc(t)
    await add(app, oidcInput(issuer))
    const redirect = await finishSignIn(
      app,
      await signInAs('ann', await authorizeUrl(app, 'custom:acme')),
    )
    assert.equal((await send(app, 'DELETE', '/custom:acme')).statusCode, 204)
    const headers = { authorization: `Bearer ${redirect.access_token}` }
    assert.equal((await app.inject({ url: '/user', headers })).statusCode, 200)
  })
})

suite('custom OAuth 2.0 provider', () => {
  const { withOauth2 } = customServers()

  test('signs in a user by mapped profile fields', async (t) => {
    const { app, fake } = await withOauth2(t)
    const more = {
      attribute_mapping: { ...mapping, email: 'mail' },
      custom_claims_allowlist: ['team'],
    }
    await add(app, oauth2Input(fake.origin, { ...more, email_optional: true }))
    const fields = await plainFields(app)
    await finishPlain(app, fields)
    assert.deepEqual(fake.deviations, [])
    const identity = await findIdentity(app, 'custom:plain')
    assert.equal(identity.provider_id, '77')
    const { name, nickname, email, email_verified, custom_claims } = identity.identity_data
    assert.deepEqual(
      { name, nickname, email, email_verified, custom_claims },
      {
        name: 'ann',
        nickname: 'ann',
        email: 'ann@ex.test',
        // The provider reports it in another field.
        email_verified: false,
        custom_claims: { team: 'blue' },
      },
    )
  })

  test('maps fields of nested objects and lists by dotted paths', async (t) => {
    const { app, fake } = await withOauth2(t)
    fake.instead.set('/userinfo', { body: JSON.stringify(nested) })
    const attribute_mapping = {
      sub: 'data.0.id',
      email: 'data.0.account.mail',
      name: 'data.0.account.profile.nick',
      // A field whose own name has dots goes first.
      picture: 'https://ex.test/claims/picture',
      website: 'data.9.site',
      locale: 'data.constructor.name',
      gender: 'constructor',
      zoneinfo: 'data.0.account',
    }
    await add(app, oauth2Input(fake.origin, { attribute_mapping, email_optional: true }))
    const fields = await plainFields(app)
    await finishPlain(app, fields)
    const { provider_id, identity_data } = await findIdentity(app, 'custom:plain')
    const { email, email_verified, name, picture, ...others } = identity_data
    assert.deepEqual([provider_id, email, email_verified], ['77', 'ann@ex.test', false])
    assert.deepEqual([name, picture], ['ann', 'https://ex.test/ann.png'])
    for (const absent of ['website', 'locale', 'gender', 'zoneinfo']) {
      assert.equal(others[absent], undefined, absent)
    }
  })

  test('rejects a profile without an id', async (t) => {
    const { app, fake } = await withOauth2(t)
    await add(app, oauth2Input(fake.origin, { email_optional: true }))
    const fields = await plainFields(app)
    assert.equal((await finishPlain(app, fields)).error_code, 'unexpected_failure')
  })

  test('uses no PKCE when it is disabled', async (t) => {
    const { app, fake } = await withOauth2(t)
    await add(app, oauth2Input(fake.origin, { pkce_enabled: false }))
    const url = await authorizeUrl(app, 'custom:plain')
    assert.equal(url.searchParams.has('code_challenge'), false)
  })
})

/** One server in the suite, where each test finds neither providers nor users of earlier ones. */
function customServers() {
  const servers = shareServers((ending) => build(ending, customOnLoopback))

  const emptyServer = async () => emptied(await servers())

  async function withOidc(t: TestContext) {
    const { issuer } = await startOpenidProvider(t, { claimsInIdToken: true, https: true })
    return { issuer, ...(await emptyServer()) }
  }

  async function withOauth2(t: TestContext) {
    const fake = await startFakeProvider(t, documented, undefined, plainClient)
    return { fake, ...(await emptyServer()) }
  }

  /** A proxy to an issuer whose tokens the test creates. */
  async function withTokens(t: TestContext) {
    const idToken = { issuer: '', claims: {} }
    const { issuer } = await startFakeProvider(t, { ...documented, idToken })
    return { issuer, ...(await emptyServer()) }
  }

  return { withOidc, withOauth2, withTokens }
}

type App = Awaited<ReturnType<typeof build>>['app']

async function byIdToken(app: App, iss: string, claims: object = {}, provider = 'custom:acme') {
  const email = `${crypto.randomUUID()}@ex.test`
  const account = { iss, aud: client.id, sub: email, email, email_verified: true, ...claims }
  const id_token = await signIdToken(account, new Date())
  const payload = { provider, id_token }
  return app.inject({ method: 'POST', url: '/token?grant_type=id_token', payload })
}

function findIdentity(app: App, provider: string) {
  return app.db
    .selectFrom('identities')
    .select(['provider_id', 'identity_data'])
    .where('provider', '=', provider)
    .executeTakeFirstOrThrow()
}
