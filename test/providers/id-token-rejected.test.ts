/** Genuine id_tokens for another client, time or provider. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { JWTPayload } from 'jose'

import type { ProviderSettings } from '../../providers/core/types.ts'
import type { IdTokenErrorKind, IdTokenRequest } from '../../providers/id-token-selection.ts'
import { fakeIssuer } from '../support/providers/fake-issuer.ts'
import {
  atHash,
  attempt,
  enabled,
  idTokenError,
  microsoft,
  personal,
  seconds,
  sha256,
  tenant,
  token,
} from '../support/providers/id-tokens.ts'
import { fakeProviderSettings } from '../support/providers/settings.ts'

suite('rejected id_tokens', () => {
  const bad: IdTokenErrorKind = 'invalid_request'
  const rejected: [string, IdTokenErrorKind, IdTokenRequest, JWTPayload?][] = [
    ['no token', bad, { provider: 'google', idToken: '' }],
    ['no provider', bad, { clientId: 'x' }],
    ['an issuer without a client id', bad, { issuer: 'https://other.test' }],
    ['an unknown provider', 'validation_failed', { provider: 'unknown' }],
    ['a provider without id_tokens', 'validation_failed', { provider: 'github' }],
    ['a disabled provider', 'provider_disabled', { provider: 'vercel_marketplace' }],
    [
      'an issuer that is not allowed',
      'validation_failed',
      { issuer: 'https://evil.test', clientId: 'x' },
    ],
    ['a token for another audience', bad, {}, { aud: 'evil' }],
    ['a token without an audience', bad, {}, { aud: [] }],
    [
      'an allowed issuer with another client',
      bad,
      { issuer: 'https://other.test', clientId: 'app' },
      { iss: 'https://other.test', aud: 'evil' },
    ],
    ['a token that expires in this second', bad, {}, { exp: seconds }],
    ['a token that becomes valid in six minutes', bad, {}, { nbf: seconds + 360 }],
    ['a token without a subject', bad, {}, { sub: '' }],
    ['the at_hash of another token', bad, { accessToken: 'at2' }, { at_hash: atHash }],
    ['another nonce', 'invalid_nonce', { nonce: 'n2' }, { nonce: sha256('n1') }],
    ['an unhashed nonce', 'invalid_nonce', { nonce: 'n1' }, { nonce: 'n1' }],
    ['a nonce in the token only', bad, {}, { nonce: sha256('n1') }],
    ['a nonce in the request only', bad, { nonce: 'n1' }],
    [
      'an issuer that differs from the token’s',
      'validation_failed',
      { issuer: 'https://appleid.apple.com' },
    ],
  ]
  for (const [title, kind, request, claims = {}] of rejected) {
    test(`rejects ${title}`, async () => {
      const idToken = await token(claims)
      const target = request.issuer && request.clientId ? {} : { provider: 'google' }
      const named =
        title === 'no provider' || title === 'an issuer without a client id' ? {} : target
      assert.equal(await idTokenError(attempt({ idToken, ...named, ...request })), kind)
    })
  }

  const issuers: [string, string, Partial<ProviderSettings>?][] = [
    ['google', 'https://evil.test'],
    ['google', 'https://accounts.google.com.evil.test'],
    ['google', ''],
    ['apple', 'https://accounts.google.com'],
    ['azure', `${microsoft}/${tenant}/v2.0/../../evil`],
    ['azure', `${microsoft}/common/v2.0`],
    ['azure', `${microsoft}.evil.test/${tenant}/v2.0`],
    ['azure', `https://sts.windows.net/${tenant}/`, { url: `${microsoft}/${personal}` }],
    ['azure', `${microsoft}/${personal}/v2.0`, { url: `${microsoft}/${tenant}` }],
    ['azure', `${microsoft}/${tenant}/v2.0`, { url: `${microsoft}/consumers` }],
    ['keycloak', 'https://kc.test/realms/other'],
    ['acme', 'https://acme.test/other'],
  ]
  for (const [provider, iss, changes] of issuers) {
    test(`${provider}: sends no request for a token of ${iss || 'no issuer'}`, async () => {
      const issuer = fakeIssuer()
      const settings = enabled.get(provider) ?? fakeProviderSettings({})
      const providers = new Map([[provider, { ...settings, ...changes }]])
      const idToken = await token({ iss })
      const error = await idTokenError(attempt({ provider, idToken }, { providers, issuer }))
      assert.equal(error, 'invalid_request')
      assert.deepEqual(issuer.state.asked, [])
    })
  }

  test('rejects metadata that names another tenant', async () => {
    const issuer = fakeIssuer()
    const iss = `${microsoft}/${tenant}/v2.0`
    issuer.state.renamed.set(iss, `${microsoft}/${personal}/v2.0`)
    const idToken = await token({ iss })
    assert.equal(
      await idTokenError(attempt({ provider: 'azure', idToken }, { issuer })),
      'unreachable',
    )
  })

  test('rejects an issuer with symmetric algorithms only, and an unreachable one', async () => {
    const issuer = fakeIssuer()
    issuer.state.algorithms = ['HS256', 'none']
    const request = { provider: 'google', idToken: await token({}) }
    assert.equal(await idTokenError(attempt(request, { issuer })), 'invalid_request')
    const other = fakeIssuer()
    other.state.down = true
    assert.equal(await idTokenError(attempt(request, { issuer: other })), 'unreachable')
  })
})
