/** id_tokens that apps hand in: whose they are, and every way to forge one. */
import assert from 'node:assert/strict'
import { createHash, createHmac } from 'node:crypto'
import { suite, test } from 'node:test'

import { exportSPKI, type JWTPayload } from 'jose'

import { identityFromIdToken } from '../../providers/id-token.ts'
import { IdTokenFault, type IdTokenFaultKind } from '../../providers/id-token-fault.ts'
import type { IdTokenRequest } from '../../providers/id-token-selection.ts'
import type { ProviderSettings } from '../../providers/provider.ts'
import { fakeIssuer } from '../support/providers/fake-issuer.ts'
import { client } from '../support/providers/fake-provider.ts'
import { foreign, signIdToken, signing } from '../support/providers/keys.ts'
import { settingsOf, upstreamOf } from '../support/providers/settings.ts'

const now = new Date('2026-02-03T04:05:06Z')
const email = 'ann@ex.test'
const seconds = now.getTime() / 1000
const tenant = '11111111-2222-3333-4444-555555555555'
const personal = '9188040d-6c67-4c5b-b112-36a304b66dad'
const microsoft = 'https://login.microsoftonline.com'
const atHash = createHash('sha256').update('at1').digest().subarray(0, 16).toString('base64url')

const enabled = new Map<string, ProviderSettings>([
  ['apple', settingsOf({ bundleId: 'com.ex.app' })],
  ['azure', settingsOf({})],
  ['facebook', settingsOf({})],
  ['google', settingsOf({})],
  ['kakao', settingsOf({})],
  ['keycloak', settingsOf({ url: 'https://kc.test/realms/r' })],
  ['snapchat', settingsOf({ emailOptional: true })],
  ['acme', settingsOf({ issuer: 'https://acme.test' })],
])

suite('id_tokens of each provider', () => {
  const told = { email, email_verified: true, phone_verified: false }
  const accepted: [string, IdTokenRequest, JWTPayload, object, Partial<ProviderSettings>?][] = [
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
      'an allowed issuer, for the client id of the request',
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

  const forged: Record<string, () => Promise<string> | string> = {
    'not a JWT': () => 'abc',
    'two parts': () => 'e30.e30',
    'alg none': () => unsigned({ alg: 'none' }, ''),
    'alg none with the signature of another': async () => {
      const [, , signature = ''] = (await token({})).split('.')
      return unsigned({ alg: 'none', kid: 'key-1' }, signature)
    },
    'HS256 with the public key': async () => {
      const head = unsigned({ alg: 'HS256', kid: 'key-1' }, '').slice(0, -1)
      const publicKey = await exportSPKI(signing.publicKey)
      return `${head}.${createHmac('sha256', publicKey).update(head).digest('base64url')}`
    },
    'another key under the same id': () => token({}, foreign),
    'claims changed after signing': async () => {
      const [head, , signature] = (await token({})).split('.')
      return `${head}.${encode({ ...base, sub: 'evil' })}.${signature}`
    },
    'an embedded key': () => unsigned({ alg: 'RS256', jwk: foreign.jwk }, 'x'),
  }
  for (const [title, forge] of Object.entries(forged)) {
    test(`forged: ${title}`, async () => {
      const idToken = await forge()
      const fault = await attempt({ provider: 'google', idToken }).catch((error: unknown) => error)
      assert.ok(fault instanceof IdTokenFault)
      assert.equal(fault.kind, 'invalid_request')
      assert.match(fault.message, /^Bad ID token/)
      assert.ok(!JSON.stringify({ ...fault, cause: fault.cause }).includes(email))
    })
  }

  test('a tenant cannot vouch for another: metadata must name the issuer of the token', async () => {
    const issuer = fakeIssuer()
    const iss = `${microsoft}/${tenant}/v2.0`
    issuer.state.renamed.set(iss, `${microsoft}/${personal}/v2.0`)
    const idToken = await token({ iss })
    assert.equal(await faultOf(attempt({ provider: 'azure', idToken }, { issuer })), 'unreachable')
  })

  test('forged: HS256 with a secret that the issuer publishes among its keys', async () => {
    const issuer = fakeIssuer()
    const secret = Buffer.from('everybody knows these 32 bytes..')
    issuer.state.keys = [{ kty: 'oct', kid: 'oct-1', k: secret.toString('base64url') }]
    const head = unsigned({ alg: 'HS256', kid: 'oct-1' }, '').slice(0, -1)
    const idToken = `${head}.${createHmac('sha256', secret).update(head).digest('base64url')}`
    const fault = await faultOf(attempt({ provider: 'google', idToken }, { issuer }))
    assert.equal(fault, 'invalid_request')
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

const base = { iss: 'https://accounts.google.com', aud: client.id, sub: 'sub-1', email }

function token(claims: JWTPayload, key = signing): Promise<string> {
  return signIdToken({ ...base, ...claims }, now, key)
}

function unsigned(header: object, signature: string): string {
  const claims = { ...base, iat: seconds, exp: seconds + 300 }
  return `${encode(header)}.${encode(claims)}.${signature}`
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

interface World {
  providers?: ReadonlyMap<string, ProviderSettings>
  issuer?: ReturnType<typeof fakeIssuer>
}

function attempt(
  request: IdTokenRequest,
  { providers = enabled, issuer = fakeIssuer() }: World = {},
) {
  const upstream = upstreamOf(issuer.fetch)
  const allowedIssuers = ['https://other.test']
  return identityFromIdToken(request, { upstream, providers, allowedIssuers, now })
}

async function faultOf(promise: Promise<unknown>): Promise<IdTokenFaultKind> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof IdTokenFault, String(error))
  return error.kind
}

function sha256(value: string): string {
  return createHash('sha256').update(value).digest('hex')
}
