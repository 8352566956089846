/** A client of the OAuth server in tests: requests, consent by the JSON interface, and the exchange. */
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'

import type { OauthClient } from '../../schemas/oauth/client.ts'
import { asAdmin } from './admin.ts'
import { call } from './requests.ts'
import type { App } from './server.ts'
import { autoconfirm } from './users.ts'

export const oauthServer = { ...autoconfirm, AUTH_OAUTH_SERVER_ENABLED: 'true' }

/** The same with a consent page of the operator's own, which calls this server with JSON. */
export const ownConsentPage = {
  ...oauthServer,
  AUTH_OAUTH_SERVER_AUTHORIZATION_PATH: '/oauth/consent',
}

export const callbackUrl = 'https://app.example/callback'

/** A client that an admin creates. */
export async function createClient(app: App, fields: object = {}): Promise<OauthClient> {
  const body = { client_name: 'App', redirect_uris: [callbackUrl], ...fields }
  const response = await asAdmin(app, 'POST', '/admin/oauth/clients', body)
  assert.equal(response.statusCode, 201, response.body)
  return response.json()
}

export interface Pkce {
  verifier: string
  challenge: string
}

export function makePkce(): Pkce {
  const verifier = randomBytes(32).toString('base64url')
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') }
}

type Parameters = Record<string, string | undefined>

/** The response of the authorization endpoint. */
export function requestAuthorization(app: App, parameters: Parameters) {
  return app.inject(`/oauth/authorize?${encoded({ response_type: 'code', ...parameters })}`)
}

/** The id of a request that waits for the user's decision. */
export async function startAuthorization(
  app: App,
  client: OauthClient,
  parameters: Parameters = {},
): Promise<string> {
  const response = await requestAuthorization(app, {
    client_id: client.client_id,
    redirect_uri: client.redirect_uris[0] ?? '',
    response_type: 'code',
    ...parameters,
  })
  assert.equal(response.statusCode, 302, response.body)
  const { searchParams } = new URL(String(response.headers.location))
  const id = searchParams.get('authorization_id')
  assert.ok(id, String(response.headers.location))
  return id
}

/** The query of the address that the client is sent. */
export async function answerAuthorization(
  app: App,
  id: string,
  { access_token: token }: { access_token: string },
  action: 'approve' | 'deny' = 'approve',
): Promise<URLSearchParams> {
  const details = await call(app, `/oauth/authorizations/${id}`, undefined, { token })
  assert.equal(details.statusCode, 200, details.body)
  const { redirect_url: known } = details.json()
  if (known) return new URL(known).searchParams
  const answered = await call(app, `/oauth/authorizations/${id}/consent`, { action }, { token })
  assert.equal(answered.statusCode, 200, answered.body)
  return new URL(answered.json().redirect_url).searchParams
}

/** Basic credentials of a client. */
export const basic = ({ client_id, client_secret = '' }: OauthClient) => ({
  authorization: `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}`,
})

/** A form to the token endpoint or a similar endpoint. */
export function postForm(
  app: App,
  url: string,
  fields: Parameters,
  headers: Record<string, string> = {},
) {
  return app.inject({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    payload: encoded(fields),
  })
}

function encoded(parameters: Parameters): string {
  const entries = Object.entries(parameters).filter((entry): entry is [string, string] => {
    return entry[1] !== undefined
  })
  return new URLSearchParams(entries).toString()
}

export interface Tokens {
  access_token: string
  refresh_token: string
  id_token?: string
  scope: string
  expires_in: number
  token_type: string
}

/** The exchange of a code. */
export function exchangeCode(app: App, client: OauthClient, code: string, fields: Parameters = {}) {
  const isPublic = client.token_endpoint_auth_method === 'none'
  return postForm(
    app,
    '/oauth/token',
    {
      grant_type: 'authorization_code',
      code,
      ...(isPublic && { client_id: client.client_id }),
      ...fields,
    },
    isPublic ? {} : basic(client),
  )
}

/** Everything from the request to the tokens. */
export async function signInClient(
  app: App,
  client: OauthClient,
  user: { access_token: string },
  parameters: Parameters = {},
): Promise<Tokens> {
  const { code, verifier } = await obtainCode(app, client, user, parameters)
  const response = await exchangeCode(app, client, code, { code_verifier: verifier })
  assert.equal(response.statusCode, 200, response.body)
  return response.json()
}

/** A code that waits for its exchange. */
export async function obtainCode(
  app: App,
  client: OauthClient,
  user: { access_token: string },
  parameters: Parameters = {},
): Promise<{ code: string; verifier: string }> {
  const { verifier, challenge } = makePkce()
  const pkce = { code_challenge: challenge, code_challenge_method: 'S256' }
  const id = await startAuthorization(app, client, { ...pkce, ...parameters })
  const code = (await answerAuthorization(app, id, user)).get('code')
  assert.ok(code)
  return { code, verifier }
}

/** A refresh by a client. */
export function refreshTokens(
  app: App,
  client: OauthClient,
  token: string,
  fields: Parameters = {},
) {
  const isPublic = client.token_endpoint_auth_method === 'none'
  return postForm(
    app,
    '/oauth/token',
    {
      grant_type: 'refresh_token',
      refresh_token: token,
      ...(isPublic && { client_id: client.client_id }),
      ...fields,
    },
    isPublic ? {} : basic(client),
  )
}

/** The claims of a token, not verified. */
export function decodeClaims(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
}

/** A client that registers itself, if enabled. */
export async function registerClient(app: App, fields: object = {}): Promise<OauthClient> {
  const payload = { client_name: 'Self', redirect_uris: [callbackUrl], ...fields }
  const response = await app.inject({ method: 'POST', url: '/oauth/clients/register', payload })
  assert.equal(response.statusCode, 201, response.body)
  return response.json()
}

/** A server where clients may register themselves. */
export const openRegistration = {
  ...oauthServer,
  AUTH_OAUTH_SERVER_ALLOW_DYNAMIC_REGISTRATION: 'true',
}
