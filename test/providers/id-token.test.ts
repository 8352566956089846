/** id_tokens sent by apps: the resulting identity. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { JWTPayload } from 'jose'

import type { ProviderSettings } from '../../providers/core/types.ts'
import type { IdTokenRequest } from '../../providers/id-token-selection.ts'
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
import { fakeProviderSettings } from '../support/providers/settings.ts'

type Accepted = [string, IdTokenRequest, JWTPayload, object, Partial<ProviderSettings>?]

/** A token without email_verified. */
const unverified = (
  [
    ['apple', 'https://appleid.apple.com', false],
    ['apple', 'https://appleid.apple.com', 'false'],
    ['apple', 'https://appleid.apple.com', undefined],
    ['facebook', 'https://www.facebook.com', undefined],
    ['kakao', 'https://kauth.kakao.com', undefined],
    ['snapchat', 'https://accounts.snapchat.com/accounts/oauth2/token', undefined],
    ['facebook', 'https://www.facebook.com', false],
    ['kakao', 'https://kauth.kakao.com', false],
    ['snapchat', 'https://accounts.snapchat.com/accounts/oauth2/token', false],
  ] as const
).map(([provider, iss, email_verified]): Accepted => {
  const title = `${provider}, whose email_verified is ${JSON.stringify(email_verified)}`
  return [title, { provider }, { iss, email_verified }, { email, email_verified: false }]
})

suite('id_tokens by provider', () => {
  const reported = { email, email_verified: true, phone_verified: false }
  const accepted: Accepted[] = [
    [
      'Google without a scheme in iss',
      { provider: 'Google' },
      { iss: 'accounts.google.com', name: 'Ann', email_verified: true },
      { ...reported, name: 'Ann', full_name: 'Ann', iss: 'accounts.google.com' },
    ],
    [
      'Apple, for the app',
      { provider: 'apple' },
      {
        iss: 'https://account.apple.com',
        aud: 'com.ex.app',
        is_private_email: 'true',
        email_verified: 'true',
      },
      { ...reported, custom_claims: { is_private_email: true } },
    ],
    [
      'Microsoft, domain owner verified',
      { provider: 'azure' },
      { iss: `${microsoft}/${tenant}/v2.0`, xms_edov: true, name: 'Ann', tid: tenant },
      { ...reported, full_name: 'Ann', custom_claims: { email, tid: tenant, xms_edov: true } },
    ],
    [
      'Microsoft, without email verification',
      { provider: 'azure' },
      { iss: `${microsoft}/${tenant}/v2.0` },
      { ...reported, email_verified: false },
    ],
    [
      'Microsoft, a personal account',
      { provider: 'azure' },
      { iss: `${microsoft}/${personal}/v2.0` },
      reported,
    ],
    [
      'Microsoft, the configured tenant',
      { provider: 'azure' },
      { iss: `${microsoft}/${tenant}/v2.0` },
      reported,
      { url: `${microsoft}/${tenant}` },
    ],
    [
      'Microsoft, the configured tenant with an unverified email',
      { provider: 'azure' },
      { iss: `${microsoft}/${tenant}/v2.0`, xms_edov: 'false' },
      { ...reported, email_verified: false },
      { url: `${microsoft}/${tenant}` },
    ],
    [
      'Microsoft, a v1 token that claims verification',
      { provider: 'azure' },
      { iss: `https://sts.windows.net/${tenant}/`, email_verified: true },
      { ...reported, email_verified: false },
    ],
    [
      'Facebook, with an unchecked nonce',
      { provider: 'facebook' },
      { iss: 'https://www.facebook.com', nonce: 'x', email_verified: true },
      { ...reported, provider_id: 'sub-1' },
    ],
    [
      'Kakao',
      { provider: 'kakao' },
      { iss: 'https://kauth.kakao.com', nickname: 'Ann', email_verified: true },
      { ...reported, name: 'Ann', preferred_username: 'Ann' },
    ],
    [
      'Snapchat',
      { provider: 'snapchat' },
      { iss: 'https://accounts.snapchat.com/accounts/oauth2/token', email_verified: true },
      reported,
    ],
    ...unverified,
    [
      'Keycloak, identified by issuer',
      { issuer: 'https://kc.test/realms/r', clientId: 'any' },
      { iss: 'https://kc.test/realms/r', email_verified: true, updated_at: 0, name: '' },
      { ...reported, updated_at: '1970-01-01T00:00:00.000Z', name: undefined },
    ],
    [
      'a configured OpenID provider',
      { provider: 'acme' },
      { iss: 'https://acme.test' },
      { ...reported, email_verified: false },
    ],
    [
      'an allowed issuer with a configured client id',
      { issuer: 'https://other.test', clientId: 'app' },
      { iss: 'https://other.test', aud: ['else', 'app'] },
      { ...reported, email_verified: false },
    ],
    ['one of several audiences', { provider: 'google' }, { aud: ['x', 'second client'] }, {}],
    [
      'a token with the requested nonce',
      { provider: 'google', nonce: 'n1' },
      { nonce: sha256('n1') },
      {},
    ],
    [
      'a nonce that is not checked',
      { provider: 'google' },
      { nonce: 'x' },
      {},
      { skipNonceCheck: true },
    ],
    [
      'a matching access token',
      { provider: 'google', accessToken: 'at1' },
      { at_hash: atHash },
      {},
    ],
    [
      'a token that becomes valid in four minutes',
      { provider: 'google' },
      { nbf: seconds + 240 },
      {},
    ],
  ]
  for (const [title, request, claims, expected, changes] of accepted) {
    test(`accepts ${title}`, async () => {
      const name = request.provider?.toLowerCase() ?? ''
      const providers = new Map(enabled)
      if (changes) providers.set(name, { ...fakeProviderSettings({}), ...changes })

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

  test('belong to the provider, or to the issuer when no provider is named', async () => {
    const iss = 'https://other.test'
    const google = await attempt({ provider: 'GOOGLE', idToken: await token({}) })
    const issuer = await token({ iss, aud: 'app' })
    const other = await attempt({ issuer: iss, clientId: 'app', idToken: issuer })
    assert.deepEqual([google.provider, other.provider], ['google', iss])
  })
})
