/** id_tokens that are real, and not for us, not now, or not of this provider. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { JWTPayload } from 'jose'

import type { IdTokenFaultKind } from '../../providers/id-token-fault.ts'
import type { IdTokenRequest } from '../../providers/id-token-selection.ts'
import type { ProviderSettings } from '../../providers/provider.ts'
import { fakeIssuer } from '../support/providers/fake-issuer.ts'
import {
  atHash,
  attempt,
  enabled,
  faultOf,
  microsoft,
  personal,
  seconds,
  sha256,
  tenant,
  token,
} from '../support/providers/id-tokens.ts'
import { settingsOf } from '../support/providers/settings.ts'

suite('id_tokens that are refused', () => {
  const bad: IdTokenFaultKind = 'invalid_request'
  const refused: [string, IdTokenFaultKind, IdTokenRequest, JWTPayload?][] = [
    ['no token', bad, { provider: 'google', idToken: '' }],
    ['no provider', bad, { clientId: 'x' }],
    ['issuer without client id', bad, { issuer: 'https://other.test' }],
    ['an unknown provider', 'validation_failed', { provider: 'nobody' }],
    ['a provider without id_tokens', 'validation_failed', { provider: 'github' }],
    ['a provider that is off', 'provider_disabled', { provider: 'vercel_marketplace' }],
    [
      'an issuer nobody allowed',
      'validation_failed',
      { issuer: 'https://evil.test', clientId: 'x' },
    ],
    ['another audience', bad, {}, { aud: 'evil' }],
    ['no audience', bad, {}, { aud: [] }],
    [
      'an allowed issuer, another client',
      bad,
      { issuer: 'https://other.test', clientId: 'app' },
      { iss: 'https://other.test', aud: 'evil' },
    ],
    ['expired this second', bad, {}, { exp: seconds }],
    ['not valid for six minutes', bad, {}, { nbf: seconds + 360 }],
    ['no sub', bad, {}, { sub: '' }],
    ['the at_hash of another token', bad, { accessToken: 'at2' }, { at_hash: atHash }],
    ['another nonce', 'invalid_nonce', { nonce: 'n2' }, { nonce: sha256('n1') }],
    ['the nonce in clear', 'invalid_nonce', { nonce: 'n1' }, { nonce: 'n1' }],
    ['a nonce in the token only', bad, {}, { nonce: sha256('n1') }],
    ['a nonce in the request only', bad, { nonce: 'n1' }],
    [
      'an issuer of the request that is not the token’s',
      'validation_failed',
      { issuer: 'https://appleid.apple.com' },
    ],
  ]
  for (const [title, kind, request, claims = {}] of refused) {
    test(title, async () => {
      const idToken = await token(claims)
      const target = request.issuer && request.clientId ? {} : { provider: 'google' }
      const named = title === 'no provider' || title.startsWith('issuer without') ? {} : target
      assert.equal(await faultOf(attempt({ idToken, ...named, ...request })), kind)
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
    ['acme', 'https://acme.test/'],
  ]
  for (const [provider, iss, changes] of issuers) {
    test(`${provider}: a token of ${iss || 'nobody'} fetches nothing`, async () => {
      const issuer = fakeIssuer()
      const settings = enabled.get(provider) ?? settingsOf({})
      const providers = new Map([[provider, { ...settings, ...changes }]])
      const idToken = await token({ iss })
      const fault = await faultOf(attempt({ provider, idToken }, { providers, issuer }))
      assert.equal(fault, 'invalid_request')
      assert.deepEqual(issuer.state.asked, [])
    })
  }

  test('a tenant cannot vouch for another: metadata must name the issuer of the token', async () => {
    const issuer = fakeIssuer()
    const iss = `${microsoft}/${tenant}/v2.0`
    issuer.state.renamed.set(iss, `${microsoft}/${personal}/v2.0`)
    const idToken = await token({ iss })
    assert.equal(await faultOf(attempt({ provider: 'azure', idToken }, { issuer })), 'unreachable')
  })

  test('an issuer that offers only secret-key algorithms, and one that is down', async () => {
    const issuer = fakeIssuer()
    issuer.state.algorithms = ['HS256', 'none']
    const request = { provider: 'google', idToken: await token({}) }
    assert.equal(await faultOf(attempt(request, { issuer })), 'invalid_request')
    const other = fakeIssuer()
    other.state.down = true
    assert.equal(await faultOf(attempt(request, { issuer: other })), 'unreachable')
  })
})
