/** `auth()` of the MCP TypeScript SDK: discovery, registration, sign-in, refresh, and a refresh that is refused. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { before, suite, test } from 'node:test'

import {
  auth,
  type OAuthClientProvider,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
} from '@modelcontextprotocol/client'

import { decodeClaims, openRegistration } from '../support/oauth-server.ts'
import { openBrowser, refreshIn } from '../support/page-browser.ts'
import { endingOfSuite } from '../support/processes/ending.ts'
import { freePort } from '../support/processes/free-port.ts'
import { call } from '../support/requests.ts'
import { type App, build } from '../support/server.ts'
import { password, signUpUser } from '../support/users.ts'

const redirectUrl = 'http://127.0.0.1:3000/callback'

suite('auth() of the MCP SDK', () => {
  const ending = endingOfSuite()
  let app: App
  let resource: string
  before(async () => {
    const [port, resourcePort] = [await freePort(), await freePort()]
    const issuer = `http://127.0.0.1:${port}`
    resource = `http://127.0.0.1:${resourcePort}`
    const env = { AUTH_API_EXTERNAL_URL: issuer, AUTH_OAUTH_SERVER_RESOURCES: resource }
    app = (await build(ending, { env: { ...openRegistration, ...env } })).app
    await app.listen({ host: '127.0.0.1', port })
    // With the slash that URL classes write; the operator listed the resource without one.
    const document = { resource: `${resource}/`, authorization_servers: [issuer] }
    const server = createServer(({ url }, response) => {
      const isMetadata = url === '/.well-known/oauth-protected-resource'
      response.writeHead(isMetadata ? 200 : 404, { 'content-type': 'application/json' })
      response.end(isMetadata ? JSON.stringify(document) : '{}')
    })
    await new Promise<void>((resolve) => server.listen(resourcePort, '127.0.0.1', resolve))
    ending.after(async () => void server.close())
  })

  /** The user signs in and approves; the query of the redirect. */
  async function visit(url: URL, email: string): Promise<URLSearchParams> {
    const browser = openBrowser(app)
    const page = await browser.open(url.href)
    const consent = await browser.submit(page, { email, password, action: 'password' })
    const done = await browser.submit(consent, { action: 'approve' })
    return new URL(refreshIn(done.html) ?? '').searchParams
  }

  async function signIn(agent: Agent, email: string): Promise<void> {
    assert.equal(await auth(agent.provider, { serverUrl: resource }), 'REDIRECT')
    const query = await visit(agent.asked(), email)
    const [authorizationCode, iss] = [query.get('code') ?? '', query.get('iss') ?? '']
    const options = { serverUrl: resource, authorizationCode, iss }
    assert.equal(await auth(agent.provider, options), 'AUTHORIZED')
  }

  test('registers itself, signs a user in for the resource, and refreshes', async () => {
    const agent = newAgent()
    const user = await signUpUser(app)
    await signIn(agent, user.email)
    const first = agent.tokens()
    const { aud, sub } = decodeClaims(first?.access_token ?? '')
    assert.deepEqual([aud, sub], [resource, user.user.id])
    assert.equal(await auth(agent.provider, { serverUrl: resource }), 'AUTHORIZED')
    assert.notEqual(agent.tokens()?.refresh_token, first?.refresh_token)
  })

  test('starts a new sign-in when its refresh is refused, and keeps its registration', async () => {
    const agent = newAgent()
    const user = await signUpUser(app)
    await signIn(agent, user.email)
    const registered = agent.information()?.client_id
    const url = `/user/oauth/grants?client_id=${registered}`
    const token = user.access_token
    const revoked = await call(app, url, undefined, { method: 'DELETE', token })
    assert.equal(revoked.statusCode, 204, revoked.body)
    await signIn(agent, user.email)
    assert.equal(agent.information()?.client_id, registered)
    assert.equal(decodeClaims(agent.tokens()?.access_token ?? '').sub, user.user.id)
  })

  test('gets the same registration for each of its installations', async () => {
    const agents = [newAgent(), newAgent()]
    for (const agent of agents) await auth(agent.provider, { serverUrl: resource })
    const [one, other] = agents.map((agent) => agent.information()?.client_id)
    assert.ok(one)
    assert.equal(one, other)
  })
})

type Agent = ReturnType<typeof newAgent>

/** A client with an in-memory store. */
function newAgent() {
  let [information, tokens]: [StoredOAuthClientInformation?, StoredOAuthTokens?] = []
  let verifier = ''
  let asked: URL | undefined
  const provider: OAuthClientProvider = {
    redirectUrl,
    clientMetadata: {
      client_name: 'Agent',
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      scope: 'openid offline_access',
    },
    clientInformation: () => information,
    saveClientInformation: (saved) => {
      information = saved
    },
    tokens: () => tokens,
    saveTokens: (saved) => {
      tokens = saved
    },
    redirectToAuthorization: (url) => {
      asked = url
    },
    saveCodeVerifier: (saved) => {
      verifier = saved
    },
    codeVerifier: () => verifier,
    invalidateCredentials: (scope) => {
      if (scope === 'all' || scope === 'client') information = undefined
      if (scope === 'all' || scope === 'tokens') tokens = undefined
    },
  }
  return {
    provider,
    information: () => information,
    tokens: () => tokens,
    asked: () => asked ?? assert.fail('no authorization request'),
  }
}
