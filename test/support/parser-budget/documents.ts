/** Documents that are fetched from identity providers and from OAuth clients. */
import { generateKeyPairSync } from 'node:crypto'

import { SignJWT } from 'jose'

import { createIssuers } from '../../../providers/oidc/issuers.ts'
import { verifyIdToken } from '../../../providers/oidc/verify-id-token.ts'
import { asAdmin } from '../admin.ts'
import { createClient, postForm } from '../oauth-server.ts'
import type { App } from '../server.ts'
import { fill, type Load, largeBytes, smallBytes } from './load.ts'

const issuer = 'https://idp.example'
const algorithms = ['RS256', 'ES256']
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })

const endpoints = {
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  jwks_uri: `${issuer}/keys`,
  id_token_signing_alg_values_supported: algorithms,
}
const ecKey = { kty: 'EC', crv: 'P-256', ...coordinates() }
const rsaKey = (bytes: number) => ({ kty: 'RSA', e: 'AQAB', n: fill(bytes, '_') })

function coordinates() {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  return { x, y }
}

const keySets: Record<string, (bytes: number) => string> = {
  'elliptic curve keys': (bytes) => keySet(fill(bytes, `${JSON.stringify(ecKey)},`)),
  'keys without an id': (bytes) => keySet(fill(bytes, `${JSON.stringify(rsaKey(342))},`)),
  'short RSA keys': (bytes) => keySet(fill(bytes, `${JSON.stringify(rsaKey(4))},`)),
  'one long RSA key': (bytes) => keySet(`${JSON.stringify(rsaKey(bytes))},`),
  'a long exponent': (bytes) =>
    keySet(`${JSON.stringify({ ...rsaKey(342), e: fill(bytes, '_') })},`),
  'keys that are none': (bytes) => keySet(fill(bytes, '{},')),
  texts: (bytes) => keySet(fill(bytes, '"",')),
  'members of one key': (bytes) =>
    keySet(`{"kty":"RSA",${fill(bytes, (at) => `"${at}":1,`)}"n":"AQAB","e":"AQAB"},`),
  'operations of one key': (bytes) =>
    keySet(
      `${JSON.stringify(ecKey).slice(0, -1)},"key_ops":[${fill(bytes, (at) => `"${at}",`)}"verify"]},`,
    ),
  levels: (bytes) => keySet(`${fill(bytes / 2, '[')}${fill(bytes / 2, ']')},`),
}

const keySet = (keys: string) => `{"keys":[${keys}${JSON.stringify(ecKey)}]}`

const discoveries: Record<string, (bytes: number) => string> = {
  'many algorithms': (bytes) =>
    JSON.stringify({
      ...endpoints,
      id_token_signing_alg_values_supported: fill(bytes, 'RS256 ').split(' '),
    }),
  'many members': (bytes) => withMembers(fill(bytes, (at) => `"${at}":1,`)),
  'a long address': (bytes) =>
    JSON.stringify({ ...endpoints, userinfo_endpoint: `${issuer}/${fill(bytes, 'é')}` }),
  'a long host': (bytes) =>
    JSON.stringify({ ...endpoints, jwks_uri: `https://${fill(bytes, 'é.')}` }),
  levels: (bytes) => withMembers(`"a":${fill(bytes / 2, '[')}${fill(bytes / 2, ']')},`),
}

const withMembers = (members: string) => `{${members}${JSON.stringify(endpoints).slice(1)}`

/** Key sets of a client that authenticates with private_key_jwt. */
export async function clientKeyLoads(app: App): Promise<Load[]> {
  const client = await createClient(app, {
    token_endpoint_auth_method: 'private_key_jwt',
    jwks_uri: 'https://client.example/keys',
  })
  const assertion = await new SignJWT({ jti: 'x' })
    .setProtectedHeader({ alg: 'ES256' })
    .setIssuer(client.client_id)
    .setSubject(client.client_id)
    .setAudience(`${app.config.AUTH_API_EXTERNAL_URL}/oauth/token`)
    .setExpirationTime('5m')
    .sign(privateKey)
  return [smallBytes, largeBytes].flatMap((bytes) =>
    Object.entries(keySets).map(([title, make]) => {
      const keys = make(bytes - 1_000)
      const run = async () => {
        // Keys are cached by URL.
        const jwks_uri = `https://client.example/${crypto.randomUUID()}`
        await asAdmin(app, 'PUT', `/admin/oauth/clients/${client.client_id}`, { jwks_uri })
        app.httpClient.fetchFromOauthClient = async () => new Response(keys)
        await postForm(app, '/oauth/token', {
          grant_type: 'authorization_code',
          code: 'x',
          client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
          client_assertion: assertion,
        })
      }
      return { parser: 'JWKS of a client', title, bytes, run }
    }),
  )
}

export function documentLoads(): Load[] {
  return [smallBytes, largeBytes].flatMap((bytes) => [
    ...Object.entries(keySets).map(([title, make]) =>
      idTokenLoad('JWKS', title, bytes, JSON.stringify(endpoints), make(bytes - 1_000)),
    ),
    ...Object.entries(discoveries).map(([title, make]) =>
      idTokenLoad('discovery document', title, bytes, make(bytes - 1_000), keySet('')),
    ),
  ])
}

/** A forged id_token, for which both documents are fetched. */
function idTokenLoad(
  parser: string,
  title: string,
  bytes: number,
  discovery: string,
  keys: string,
): Load {
  const run = async () => {
    const send = async (url: string) => ({
      ok: true,
      status: 200,
      contentType: 'application/json',
      address: url,
      body: url.endsWith('/keys') ? keys : discovery,
    })
    const now = new Date()
    const token = await new SignJWT({ sub: 'ann' })
      .setProtectedHeader({ alg: 'ES256' })
      .setIssuer(issuer)
      .setAudience('app')
      .setExpirationTime('1h')
      .sign(privateKey)
    const check = { accepts: () => true, audiences: ['app'], now }
    await verifyIdToken(createIssuers(send, 60), token, check).catch(() => {})
  }
  return { parser, title, bytes, run }
}
