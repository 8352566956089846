import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { genericOidcProviders, providerSettings } from '../../config/groups/provider-settings.ts'
import { providerNames } from '../../providers/registry.ts'
import { issuesIn, read } from './environment.ts'

suite('external provider settings', () => {
  test('include the eighteen specified providers', () => {
    const specified =
      'apple azure bitbucket discord facebook figma github gitlab google keycloak linkedin notion snapchat spotify slack twitch twitter workos'
    for (const name of specified.split(' ')) assert.ok(providerNames.some((n) => n === name))
  })

  const google = {
    AUTH_EXTERNAL_GOOGLE_ENABLED: 'true',
    AUTH_EXTERNAL_GOOGLE_CLIENT_ID: 'id',
    AUTH_EXTERNAL_GOOGLE_SECRET: 'secret',
  }

  test('report a missing redirect URI with the expected value', () => {
    const [invalid] = issuesIn(google)
    assert.equal(invalid?.variable, 'AUTH_EXTERNAL_GOOGLE_REDIRECT_URI')
    assert.match(
      invalid?.hint ?? '',
      /; for this server it is https:\/\/auth\.example\.test\/callback$/,
    )
  })

  const uris: [uri: string, emitEvent: boolean][] = [
    ['https://auth.example.test/callback', false],
    ['https://auth.example.test/auth/v1/callback', false],
    ['https://auth.example.test/providers/google/callback', false],
    ['https://auth.example.test/auth/v1/providers/google/callback', false],
    ['https://auth.example.test/providers/github/callback', true],
    ['https://auth.example.test/', true],
    ['https://app.example.test/callback', true],
    ['http://auth.example.test/callback', true],
  ]
  for (const [uri, isReported] of uris) {
    test(`${isReported ? 'warn' : 'do not warn'} about the redirect URI ${uri}`, () => {
      const { notices } = read({ ...google, AUTH_EXTERNAL_GOOGLE_REDIRECT_URI: uri })
      const reported = notices.filter((notice) => notice.includes('_REDIRECT_URI is '))
      assert.equal(reported.length, isReported ? 1 : 0)
    })
  }

  test('warn about a redirect URI that a self-hosted provider shares with another one', () => {
    const base = 'https://auth.example.test'
    const set = (name: string, more: Record<string, string>, redirectUri = `${base}/callback`) =>
      Object.fromEntries(
        Object.entries({
          CLIENT_ID: 'id',
          SECRET: 'secret',
          REDIRECT_URI: redirectUri,
          ...more,
        }).map(([field, value]) => [`AUTH_EXTERNAL_${name}_${field}`, value]),
      )
    const keycloak = { ENABLED: 'true', URL: 'https://id.example.org/realms/main' }
    const oidc = { ISSUER: 'https://id.example.net' }
    const sharing = (env: Record<string, string>) =>
      read(env).notices.filter((notice) => notice.includes('is also that of other providers'))
    const both = { ...google, ...set('GOOGLE', {}) }
    assert.equal(sharing(both).length, 0)
    assert.equal(sharing(set('KEYCLOAK', keycloak)).length, 0)
    const [notice, ...others] = sharing({ ...both, ...set('KEYCLOAK', keycloak) })
    assert.match(
      notice ?? '',
      /^AUTH_EXTERNAL_KEYCLOAK_REDIRECT_URI .*providers\/keycloak\/callback/,
    )
    assert.deepEqual(others, [])
    assert.equal(sharing({ ...both, ...set('OIDC_ACME', oidc) }).length, 1)
    const own = set('KEYCLOAK', keycloak, `${base}/providers/keycloak/callback`)
    assert.equal(sharing({ ...both, ...own }).length, 0)
  })

  test('exist for each provider', () => {
    for (const name of providerNames) {
      const prefix = `AUTH_EXTERNAL_${name.toUpperCase()}`
      const { config } = read({
        [`${prefix}_ENABLED`]: 'true',
        [`${prefix}_CLIENT_ID`]: `${name}, second`,
        [`${prefix}_SECRET`]: 'secret',
        [`${prefix}_REDIRECT_URI`]: 'https://auth.example.test/callback',
        [`${prefix}_URL`]: 'https://self-hosted.test/',
        [`${prefix}_API_URL`]: 'https://api.test',
        [`${prefix}_EMAIL_OPTIONAL`]: 'true',
        [`${prefix}_SKIP_NONCE_CHECK`]: 'true',
      })
      assert.deepEqual(providerSettings(config, name), {
        name,
        enabled: true,
        clientIds: [name, 'second'],
        secret: 'secret',
        redirectUri: 'https://auth.example.test/callback',
        url: 'https://self-hosted.test',
        apiUrl: 'https://api.test',
        emailOptional: true,
        skipNonceCheck: true,
        idTokenOnly: false,
      })
      const enabled = providerNames.filter((n) => providerSettings(config, n).enabled)
      assert.deepEqual(enabled, [name])
    }
  })

  test('include named OpenID providers by issuer', () => {
    const { config, notices } = read(
      {
        AUTH_EXTERNAL_OIDC_ACME_ISSUER: 'https://id.acme.test/realm/',
        AUTH_EXTERNAL_OIDC_ACME_CLIENT_ID: 'id',
        AUTH_EXTERNAL_OIDC_ACME_SECRET: 'secret',
        AUTH_EXTERNAL_OIDC_ACME_REDIRECT_URI: 'https://auth.example.test/callback',
        AUTH_EXTERNAL_OIDC_MY_OWN_ISSUER: 'https://id.own.test',
        AUTH_EXTERNAL_OIDC_MY_OWN_ENABLED: 'false',
        AUTH_EXTERNAL_OIDC_PROVIDER_CACHE_TTL: '2h',
      },
      true,
    )
    const [acme, own, ...others] = genericOidcProviders(config)
    assert.deepEqual(acme, {
      name: 'acme',
      enabled: true,
      issuer: 'https://id.acme.test/realm/',
      scopes: ['openid', 'email', 'profile'],
      clientIds: ['id'],
      secret: 'secret',
      redirectUri: 'https://auth.example.test/callback',
      url: 'https://id.acme.test/realm/',
      apiUrl: undefined,
      emailOptional: false,
      skipNonceCheck: false,
      idTokenOnly: false,
      acceptsHs256: false,
    })
    assert.deepEqual([own?.name, own?.enabled, others], ['my_own', false, []])
    assert.equal(config.AUTH_EXTERNAL_OIDC_PROVIDER_CACHE_TTL, 7200)
    assert.deepEqual(notices, [])
  })

  test('require 32 bytes of a secret that signs ID tokens', () => {
    const acme = {
      AUTH_EXTERNAL_OIDC_ACME_ISSUER: 'https://id.acme.test',
      AUTH_EXTERNAL_OIDC_ACME_CLIENT_ID: 'id',
      AUTH_EXTERNAL_OIDC_ACME_REDIRECT_URI: 'https://auth.example.test/callback',
      AUTH_EXTERNAL_OIDC_ACME_ID_TOKEN_SIGNED_RESPONSE_ALG: 'HS256',
    }
    const [issue] = issuesIn({ ...acme, AUTH_EXTERNAL_OIDC_ACME_SECRET: 'x'.repeat(31) })
    assert.equal(issue?.variable, 'AUTH_EXTERNAL_OIDC_ACME_SECRET')
    assert.equal(issue?.problem, 'is shorter than 32 bytes')
    const { config } = read({ ...acme, AUTH_EXTERNAL_OIDC_ACME_SECRET: 'x'.repeat(32) })
    assert.equal(genericOidcProviders(config)[0]?.acceptsHs256, true)
  })
})
