/** id_tokens that apps hand in: whose they are. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { JWTPayload } from 'jose'

import type { IdTokenRequest } from '../../providers/id-token-selection.ts'
import type { ProviderSettings } from '../../providers/provider.ts'
import {
  atHash,
  attempt,
  email,
  enabled,
  microsoft,
  personal,
  seconds,
  sha256,
  tenant,
  token,
} from '../support/providers/id-tokens.ts'
import { settingsOf } from '../support/providers/settings.ts'

type Accepted = [string, IdTokenRequest, JWTPayload, object, Partial<ProviderSettings>?]

/** Who usually knows that an address is somebody's, and says of this one that it is not. */
const denials = (
  [
    ['apple', 'https://appleid.apple.com', false],
    ['apple', 'https://appleid.apple.com', 'false'],
    ['facebook', 'https://www.facebook.com', false],
    ['kakao', 'https://kauth.kakao.com', false],
    ['snapchat', 'https://accounts.snapchat.com/accounts/oauth2/token', false],
  ] as const
).map(([provider, iss, email_verified]): Accepted => {
  const title = `${provider}, whose email_verified is ${JSON.stringify(email_verified)}`
  return [title, { provider }, { iss, email_verified }, { email, email_verified: false }]
})

suite('id_tokens of each provider', () => {
  const told = { email, email_verified: true, phone_verified: false }
  const accepted: Accepted[] = [
    [
      'Google, which leaves the scheme out at times',
      { provider: 'Google' },
      { iss: 'accounts.google.com', name: 'Ann', email_verified: true },
      { ...told, name: 'Ann', full_name: 'Ann', iss: 'accounts.google.com' },
    ],
    [
      'Apple, for the app',
      { provider: 'apple' },
      { iss: 'https://account.apple.com', aud: 'com.ex.app', is_private_email: 'true' },
      { ...told, custom_claims: { is_private_email: true } },
    ],
    [
      'Microsoft, domain owner verified',
      { provider: 'azure' },
      { iss: `${microsoft}/${tenant}/v2.0`, xms_edov: true, name: 'Ann', tid: tenant },
      { ...told, full_name: 'Ann', custom_claims: { email, tid: tenant, xms_edov: true } },
    ],
    [
      'Microsoft, a tenant that says nothing of the address',
      { provider: 'azure' },
      { iss: `${microsoft}/${tenant}/v2.0` },
      { ...told, email_verified: false },
    ],
    [
      'Microsoft, a personal account',
      { provider: 'azure' },
      { iss: `${microsoft}/${personal}/v2.0` },
      told,
    ],
    [
      'Microsoft, our own tenant',
      { provider: 'azure' },
      { iss: `${microsoft}/${tenant}/v2.0` },
      told,
      { url: `${microsoft}/${tenant}` },
    ],
    [
      'Microsoft, our own tenant about an address it knows to be unproven',
      { provider: 'azure' },
      { iss: `${microsoft}/${tenant}/v2.0`, xms_edov: 'false' },
      { ...told, email_verified: false },
      { url: `${microsoft}/${tenant}` },
    ],
    [
      'Microsoft, an older token whose tenant claims to have verified',
      { provider: 'azure' },
      { iss: `https://sts.windows.net/${tenant}/`, email_verified: true },
      { ...told, email_verified: false },
    ],
    [
      'Facebook, with a nonce that is not checked',
      { provider: 'facebook' },
      { iss: 'https://www.facebook.com', nonce: 'x' },
      { ...told, provider_id: 'sub-1' },
    ],
    [
      'Kakao',
      { provider: 'kakao' },
      { iss: 'https://kauth.kakao.com', nickname: 'Ann' },
      { ...told, name: 'Ann', preferred_username: 'Ann' },
    ],
    [
      'Snapchat',
      { provider: 'snapchat' },
      { iss: 'https://accounts.snapchat.com/accounts/oauth2/token' },
      told,
    ],
    ...denials,
    [
      'Keycloak, told by issuer',
      { issuer: 'https://kc.test/realms/r', clientId: 'any' },
      { iss: 'https://kc.test/realms/r', email_verified: true, updated_at: 0, name: '' },
      { ...told, updated_at: '1970-01-01T00:00:00.000Z', name: undefined },
    ],
    [
      'an OpenID provider of the operator',
      { provider: 'acme' },
      { iss: 'https://acme.test' },
      { ...told, email_verified: false },
    ],
    [
      'an allowed issuer, for a client id that the operator named',
      { issuer: 'https://other.test', clientId: 'app' },
      { iss: 'https://other.test', aud: ['else', 'app'] },
      { ...told, email_verified: false },
    ],
    ['one of several audiences', { provider: 'google' }, { aud: ['x', 'second client'] }, {}],
    ['a nonce', { provider: 'google', nonce: 'n1' }, { nonce: sha256('n1') }, {}],
    [
      'a nonce nobody wants checked',
      { provider: 'google' },
      { nonce: 'x' },
      {},
      { skipNonceCheck: true },
    ],
    [
      'the access token it came with',
      { provider: 'google', accessToken: 'at1' },
      { at_hash: atHash },
      {},
    ],
    ['a clock that runs ahead', { provider: 'google' }, { nbf: seconds + 240 }, {}],
  ]
  for (const [title, request, claims, expected, changes] of accepted) {
    test(title, async () => {
      const name = request.provider?.toLowerCase() ?? ''
      const providers = new Map(enabled)
      if (changes) providers.set(name, { ...settingsOf({}), ...changes })

      const { identity } = await attempt(
        { idToken: await token(claims), ...request },
        { providers },
      )

      assert.equal(identity.providerId, 'sub-1')
      assert.equal(identity.providerToken, undefined)
      for (const [claim, value] of Object.entries(expected)) {
        assert.deepEqual(identity.claims[claim], value, claim)
      }
    })
  }

  test('the identity is of the provider, or of the issuer that has none', async () => {
    const iss = 'https://other.test'
    const google = await attempt({ provider: 'GOOGLE', idToken: await token({}) })
    const issuer = await token({ iss, aud: 'app' })
    const other = await attempt({ issuer: iss, clientId: 'app', idToken: issuer })
    assert.deepEqual([google.provider, other.provider], ['google', iss])
  })
})
