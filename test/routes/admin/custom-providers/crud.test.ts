/** /admin/custom-providers: create, read, update, delete and validation. */
import assert from 'node:assert/strict'
import { before, suite, type TestContext, test } from 'node:test'

import {
  add,
  customOnLoopback,
  oauth2Input,
  oidcInput,
  path,
  send,
} from '../../../support/custom-providers/requests.ts'
import { endingOfSuite } from '../../../support/processes/ending.ts'
import { client, ownRedirectUri } from '../../../support/providers/fake-provider.ts'
import { startOpenidProvider } from '../../../support/providers/openid-provider.ts'
import { call, statusAndCode } from '../../../support/requests.ts'
import { type App, build } from '../../../support/server.ts'
import { adminToken } from '../../../support/users.ts'

/** Saving such a provider sends no request to it. */
const plain = (more: object = {}) => oauth2Input('https://id.example', more)

suite('/admin/custom-providers', () => {
  const ending = endingOfSuite()
  let app: App
  before(async () => {
    const env = { ...customOnLoopback.env, AUTH_EVENTS_ENABLED: 'true' }
    app = (await build(ending, { dev: true, env })).app
  })
  const free = (name: string) => ({ identifier: `custom:${name}` })

  test('creates, lists, returns, updates and deletes an OAuth 2.0 provider', async () => {
    const created = await add(app, plain(free('life')))
    const { id, created_at, updated_at, ...fields } = created
    assert.match(id, /^[0-9a-f-]{36}$/)
    assert.ok(created_at === updated_at && created_at.endsWith('Z'))
    assert.deepEqual(fields, {
      provider_type: 'oauth2',
      identifier: 'custom:life',
      name: 'Plain',
      client_id: client.id,
      acceptable_client_ids: [],
      scopes: ['read'],
      pkce_enabled: true,
      attribute_mapping: {},
      custom_claims_allowlist: [],
      authorization_params: {},
      enabled: true,
      email_optional: false,
      skip_nonce_check: false,
      authorization_url: 'https://id.example/authorize',
      token_url: 'https://id.example/token',
      userinfo_url: 'https://id.example/userinfo',
      callback_url: ownRedirectUri('custom:life'),
      shared_callback: false,
      organization_bound: false,
    })
    assert.deepEqual((await send(app, 'GET', '/custom:life')).json(), created)
    const listed = (await send(app, 'GET', '?type=oauth2')).json().providers
    assert.ok(listed.some((each: { id: string }) => each.id === id))
    assert.deepEqual((await send(app, 'GET', '?type=oidc')).json(), { providers: [] })
    const change = { name: 'Other', scopes: [], client_id: '', provider_type: 'oidc' }
    const changed = (await send(app, 'PUT', '/custom:life', change)).json()
    assert.deepEqual(
      [changed.name, changed.scopes, changed.client_id, changed.provider_type],
      ['Other', [], client.id, 'oauth2'],
    )
    assert.equal((await send(app, 'PUT', '/custom:life', {})).statusCode, 200)
    const removed = await send(app, 'DELETE', '/custom:life')
    assert.deepEqual([removed.statusCode, removed.body], [204, ''])
    assert.equal((await send(app, 'GET', '/custom:life')).statusCode, 404)
  })

  test('skip_nonce_check is ignored for OAuth 2.0, which has no ID token', async (t) => {
    const skips = { skip_nonce_check: true }
    const created = await add(app, plain({ ...free('no-nonce'), ...skips }))
    const changed = (await send(app, 'PUT', '/custom:no-nonce', skips)).json()
    assert.deepEqual([created.skip_nonce_check, changed.skip_nonce_check], [false, false])

    const { issuer } = await openid(t)
    const oidc = await add(app, oidcInput(issuer, { ...free('nonce'), ...skips }))
    assert.equal(oidc.skip_nonce_check, true)
    const strict = await send(app, 'PUT', '/custom:nonce', { skip_nonce_check: false })
    assert.equal(strict.json().skip_nonce_check, false)
  })

  test('decodes the identifier in the path', async () => {
    await add(app, plain(free('encoded')))
    assert.equal((await send(app, 'GET', '/custom%3Aencoded')).statusCode, 200)
  })

  test('stores the secret encrypted and never returns it', async () => {
    const created = await add(app, plain(free('secret')))
    assert.ok(!JSON.stringify(created).includes(client.secret))
    const stored = () =>
      app.db
        .selectFrom('custom_oauth_providers')
        .select(['id', 'client_secret'])
        .where('identifier', '=', 'custom:secret')
        .executeTakeFirstOrThrow()
    const { id, client_secret } = await stored()
    assert.ok(app.encryption.isEncrypted(client_secret))
    assert.equal(app.encryption.decrypt(id, client_secret, 'it'), client.secret)
    await send(app, 'PUT', '/custom:secret', { client_secret: 'renewed' })
    assert.equal(app.encryption.decrypt(id, (await stored()).client_secret, 'it'), 'renewed')
    const { body } = await send(app, 'GET')
    assert.ok(!/renewed|client_secret/.test(body))
  })

  test('fetches the discovery document, and again when the issuer changes', async (t) => {
    const [one, two] = [await openid(t), await openid(t)]
    const more = { ...free('oidc'), scopes: ['email'], jwks_uri: 'https://id.example/jwks' }
    const created = await add(app, oidcInput(one.issuer, more))
    assert.deepEqual(created.scopes, ['openid', 'email'])
    assert.equal(created.jwks_uri, undefined)
    assert.equal(created.discovery_document.token_endpoint, `${one.issuer}/token`)
    const issuer = two.issuer
    const moved = (await send(app, 'PUT', '/custom:oidc', { issuer })).json()
    assert.equal(moved.discovery_document.token_endpoint, `${issuer}/token`)
    const discovery_url = `${issuer}/.well-known/openid-configuration`
    const at = (await send(app, 'PUT', '/custom:oidc', { discovery_url })).json()
    assert.equal(at.discovery_url, discovery_url)
    const cleared = (await send(app, 'PUT', '/custom:oidc', { discovery_url: '' })).json()
    assert.equal(cleared.discovery_url, undefined)
  })

  test('records each change in the audit log and as an event', async () => {
    await add(app, plain(free('audited')))
    await send(app, 'PUT', '/custom:audited', { name: 'Renamed', client_secret: 'never shown' })
    await send(app, 'DELETE', '/custom:audited')
    const token = await adminToken(app)
    const entries = await call(app, '/admin/audit?query=action:custom_provider', undefined, {
      token,
    })
    const ours = entries
      .json()
      .map((entry: { payload: { action: string; traits: object } }) => entry.payload)
      .filter(
        ({ traits }: { traits: { provider: string } }) => traits.provider === 'custom:audited',
      )
    assert.deepEqual(ours.map(({ action }: { action: string }) => action).toReversed(), [
      'custom_provider_created',
      'custom_provider_updated',
      'custom_provider_deleted',
    ])
    assert.deepEqual(
      [ours[1].traits.before, ours[1].traits.after],
      [{ name: 'Plain' }, { name: 'Renamed' }],
    )
    assert.ok(!entries.body.includes('never shown'))
    const events = await app.db.selectFrom('postern_event_inbox').select('type').execute()
    const placed = await app.db.selectFrom('postern_events').select('type').execute()
    const types = [...events, ...placed].map(({ type }) => type)
    for (const type of ['provider.created', 'provider.updated', 'provider.deleted']) {
      assert.ok(types.includes(type), type)
    }
  })

  test('rejects a second provider with the same identifier with 400 conflict', async () => {
    await add(app, plain(free('twice')))
    const second = await send(app, 'POST', '', plain(free('twice')))
    assert.deepEqual(statusAndCode(second), [400, 'conflict'])
  })

  const invalid: Record<string, object> = {
    'another type': { provider_type: 'saml' },
    'no identifier': { identifier: '' },
    'an identifier without prefix': { identifier: 'acme' },
    'an identifier in upper case': { identifier: 'custom:Acme' },
    'an identifier of 51 characters': { identifier: `custom:${'x'.repeat(44)}` },
    'an identifier that ends in a hyphen': { identifier: 'custom:acme-' },
    'no name': { name: '' },
    'a name of 101 characters': { name: 'x'.repeat(101) },
    'no client_id': { client_id: '' },
    'a client_id of 513 characters': { client_id: 'x'.repeat(513) },
    'no client_secret': { client_secret: '' },
    'no authorization_url': { authorization_url: '' },
    'no token_url': { token_url: '' },
    'no userinfo_url': { userinfo_url: '' },
    'an invalid URL': { token_url: 'token' },
    'a URL without TLS': { token_url: 'http://id.example/token' },
    'a URL of 2049 characters': { token_url: `https://id.example/${'x'.repeat(2030)}` },
    'a URL with a password': { token_url: 'https://me:pw@id.example/token' },
    'a reserved authorization parameter': { authorization_params: { State: 'x' } },
    'an authorization parameter that is not a string': { authorization_params: { prompt: 1 } },
    'a mapping to the role': { attribute_mapping: { role: 'team' } },
    'a mapping to email_verified': { attribute_mapping: { email_verified: true } },
    'an empty name in the allowlist': { custom_claims_allowlist: ['team', ' '] },
  }
  for (const [what, change] of Object.entries(invalid)) {
    test(`rejects ${what} with 400 validation_failed`, async () => {
      const response = await send(app, 'POST', '', plain({ ...free('invalid'), ...change }))
      assert.deepEqual(statusAndCode(response), [400, 'validation_failed'])
    })
  }

  for (const method of ['GET', 'PUT', 'DELETE'] as const) {
    const body = method === 'PUT' ? {} : undefined
    test(`${method} returns 404 for an unknown identifier and 400 without the prefix`, async () => {
      const unknown = await send(app, method, '/custom:unknown', body)
      assert.deepEqual(statusAndCode(unknown), [404, 'custom_provider_not_found'])
      const unprefixed = await send(app, method, '/unknown', body)
      assert.deepEqual(statusAndCode(unprefixed), [400, 'validation_failed'])
    })
  }

  test('rejects an unknown type in the list with 400 validation_failed', async () => {
    assert.deepEqual(statusAndCode(await send(app, 'GET', '?type=saml')), [
      400,
      'validation_failed',
    ])
  })

  test('rejects a discovery document that is invalid or of another issuer', async (t) => {
    const { issuer } = await openid(t)
    for (const change of [
      { issuer: `${issuer}/nothing-here` },
      { issuer: 'https://127.0.0.1:9' },
      { discovery_url: `${issuer}/jwks` },
    ]) {
      const response = await send(app, 'POST', '', oidcInput(issuer, { ...free('bad'), ...change }))
      assert.deepEqual(statusAndCode(response), [400, 'validation_failed'], JSON.stringify(change))
    }
  })

  test('accepts an issuer in an equivalent form', async (t) => {
    const { issuer } = await openid(t)
    const more = { ...free('slash'), issuer: `${issuer}/` }
    const response = await send(app, 'POST', '', oidcInput(issuer, more))
    assert.equal(response.statusCode, 201, response.body)
  })

  test('names both issuers when the discovery document has another one', async (t) => {
    const { issuer } = await openid(t)
    const discovery_url = `${issuer}/.well-known/openid-configuration`
    const more = { ...free('bad'), issuer: 'https://127.0.0.1/realm', discovery_url }
    const { msg } = (await send(app, 'POST', '', oidcInput(issuer, more))).json()
    assert.ok(msg.includes(JSON.stringify(issuer)), msg)
    assert.ok(msg.includes('"https://127.0.0.1/realm"'), msg)
  })
})

suite('/admin/custom-providers in production', () => {
  const privateUrls = [
    'https://127.0.0.1/token',
    'https://localhost/token',
    'https://10.0.0.7/token',
    'https://192.168.1.1/token',
    'https://169.254.169.254/token',
    'https://100.64.0.1/token',
    'https://[::1]/token',
    'https://0x7f.1/token',
    'https://does-not-exist.invalid/token',
  ]
  test('rejects private, unresolvable and NAT64 addresses', async (t) => {
    const { app } = await build(t)
    const urls = { authorization_url: 'https://192.0.2.1', userinfo_url: 'https://192.0.2.1' }
    for (const token_url of privateUrls) {
      const response = await send(app, 'POST', '', plain({ ...urls, token_url }))
      assert.deepEqual(statusAndCode(response), [400, 'validation_failed'], token_url)
    }
  })

  test('rejects providers above the quota, also when requests race', async (t) => {
    const env = { ...customOnLoopback.env, AUTH_CUSTOM_OAUTH_MAX_PROVIDERS: '2' }
    const { app } = await build(t, { dev: true, env })
    const names = ['a', 'b', 'c', 'd']
    const responses = await Promise.all(
      names.map((name) => send(app, 'POST', '', plain({ identifier: `custom:${name}` }))),
    )
    const codes = responses.map((response) => statusAndCode(response).join())
    assert.deepEqual(codes.toSorted(), [
      '201,',
      '201,',
      '400,over_custom_provider_quota',
      '400,over_custom_provider_quota',
    ])
  })

  test('returns 404 feature_disabled while the feature is off', async (t) => {
    const { app } = await build(t, { env: { AUTH_CUSTOM_OAUTH_ENABLED: 'false' } })
    assert.equal((await app.inject(path)).statusCode, 401)
    for (const [method, suffix] of [
      ['GET', ''],
      ['POST', ''],
      ['GET', '/custom:x'],
      ['PUT', '/custom:x'],
      ['DELETE', '/custom:x'],
    ] as const) {
      const body = method === 'POST' || method === 'PUT' ? {} : undefined
      const response = await send(app, method, suffix, body)
      assert.deepEqual(statusAndCode(response), [404, 'feature_disabled'], `${method} ${suffix}`)
    }
  })
})

const openid = (t: TestContext) => startOpenidProvider(t, { claimsInIdToken: true, https: true })
