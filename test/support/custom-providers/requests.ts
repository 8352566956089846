/** Requests of admins to /admin/custom-providers, and a browser that signs in through such a provider. */
import assert from 'node:assert/strict'

import { client } from '../providers/fake-provider.ts'
import { call } from '../requests.ts'
import type { App } from '../server.ts'
import { adminToken } from '../users.ts'

export const path = '/admin/custom-providers'

/** On loopback, with the callback that is registered at the providers of the tests. */
export const customOnLoopback = {
  dev: true,
  env: { AUTH_CUSTOM_OAUTH_EXTERNAL_URL: client.redirectUri.replace('/callback', '') },
}

export const oidcInput = (issuer: string, more: object = {}) => ({
  provider_type: 'oidc',
  identifier: 'custom:acme',
  name: 'Acme',
  client_id: client.id,
  client_secret: client.secret,
  issuer,
  scopes: ['openid', 'email', 'profile'],
  ...more,
})

export const oauth2Input = (origin: string, more: object = {}) => ({
  provider_type: 'oauth2',
  identifier: 'custom:plain',
  name: 'Plain',
  client_id: client.id,
  client_secret: client.secret,
  authorization_url: `${origin}/authorize`,
  token_url: `${origin}/token`,
  userinfo_url: `${origin}/userinfo`,
  scopes: ['read'],
  ...more,
})

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

export async function send(app: App, method: Method, suffix = '', body?: object) {
  const token = await adminToken(app)
  return call(app, `${path}${suffix}`, body, { method, token })
}

export async function add(app: App, input: object) {
  const response = await send(app, 'POST', '', input)
  assert.equal(response.statusCode, 201, response.body)
  return response.json()
}

/** Without the providers and users of earlier tests: the server of a test after them. */
export async function emptied<Server extends { app: App }>(server: Server): Promise<Server> {
  const { app } = server
  await app.db.deleteFrom('users').execute()
  for (const identifier of ['custom:acme', 'custom:plain']) {
    await send(app, 'DELETE', `/${identifier}`)
  }
  return server
}

/** Where /authorize sends the browser. */
export async function authorizeUrl(app: App, provider: string, query: object = {}): Promise<URL> {
  const requested = new URLSearchParams({ provider, ...query })
  const response = await app.inject(`/authorize?${requested}`)
  assert.equal(response.statusCode, 302, response.body)
  return new URL(String(response.headers.location))
}

/**
 * Where the redirect URI of the provider sends the browser, with the session or the error in the fragment. A test may
 * choose another path.
 */
export async function finishSignIn(
  app: App,
  params: Record<string, string>,
  path = '/providers/custom:acme/callback',
) {
  const response = await app.inject(`${path}?${new URLSearchParams(params)}`)
  const location = new URL(String(response.headers.location))
  return Object.fromEntries(new URLSearchParams(location.hash.slice(1)))
}
