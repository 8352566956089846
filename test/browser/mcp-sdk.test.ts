/**
 * The client of the MCP TypeScript SDK against a protected resource: discovery, a client by metadata document or by
 * registration, the resource indicator, and a step-up, with the user at the hosted pages in Chromium.
 */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { suite, type TestContext, test } from 'node:test'

import {
  Client,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import type { Page } from 'playwright-core'

import { startMcpServer } from '../support/mcp-server.ts'
import { serveDocuments } from '../support/metadata-documents.ts'
import { decodeClaims } from '../support/oauth-server.ts'
import { freePort } from '../support/processes/free-port.ts'
import { serve } from '../support/processes/listening.ts'
import { signUpUser } from '../support/users.ts'
import { executablePath } from './chromium.ts'
import { approveAt, openProvider, signInAt } from './hosted-pages.ts'

const skip = executablePath === undefined && 'no Chromium is installed (CHROMIUM_PATH)'
const documentUrl = 'https://client.example/oauth/agent.json'

suite('MCP TypeScript SDK', { skip }, () => {
  test('signs in with its metadata document for one resource and steps up its scopes', async (t) => {
    const { app, page, resource, callback } = await open(t)
    const documents = await serveDocuments(t, app)
    documents.document = {
      body: JSON.stringify({
        client_id: documentUrl,
        client_name: 'Agent',
        redirect_uris: [callback.url],
        token_endpoint_auth_method: 'none',
      }),
    }
    const account = await signUpUser(app)
    const agent = newAgent(resource.url, callback.url, documentUrl)

    await agent.connect(async (url) => {
      assert.equal(url.searchParams.get('client_id'), documentUrl)
      assert.equal(url.searchParams.get('resource'), resource.url)
      await page.goto(url.href)
      await signInAt(page, account)
      await page.locator('button[value=approve]').waitFor()
      assert.match((await page.locator('main').textContent()) ?? '', /client\.example/)
      await approveAt(page)
      return callback.next()
    })
    assert.equal(await agent.call('read'), 'read: done')
    assert.equal(resource.last()?.clientId, documentUrl)
    assert.deepEqual(resource.last()?.scopes, ['notes:read', 'offline_access'])

    await agent.connectAfter('write', async (url) => {
      assert.match(url.searchParams.get('scope') ?? '', /notes:write/)
      await page.goto(url.href)
      assert.match((await page.locator('ul').textContent()) ?? '', /notes:write/)
      await approveAt(page)
      return callback.next()
    })
    assert.equal(await agent.call('write'), 'write: done')
    const { aud, sub } = decodeClaims(agent.tokens()?.access_token ?? '')
    assert.deepEqual([aud, sub], [resource.url, account.user.id])
  })

  test('registers itself without a metadata document and refreshes', async (t) => {
    const { app, page, resource, callback } = await open(t, {
      AUTH_OAUTH_SERVER_ALLOW_DYNAMIC_REGISTRATION: 'true',
      AUTH_OAUTH_SERVER_CLIENT_ID_METADATA_DOCUMENTS: 'false',
    })
    const account = await signUpUser(app)
    const agent = newAgent(resource.url, callback.url)
    await agent.connect(async (url) => {
      await page.goto(url.href)
      await signInAt(page, account)
      await approveAt(page)
      return callback.next()
    })
    assert.equal(await agent.call('read'), 'read: done')
    const before = agent.tokens()
    assert.ok(before?.refresh_token)
    agent.invalidateAccessToken()
    assert.equal(await agent.call('read'), 'read: done')
    assert.notEqual(agent.tokens()?.refresh_token, before.refresh_token)
    assert.equal(decodeClaims(agent.tokens()?.access_token ?? '').sub, account.user.id)
  })
})

async function open(t: TestContext, env: Record<string, string> = {}) {
  const port = await freePort()
  const provider = await openProvider(t, {
    AUTH_OAUTH_SERVER_RESOURCES: `http://127.0.0.1:${port}/mcp`,
    AUTH_OAUTH_SERVER_SCOPES: 'notes:read,notes:write',
    ...env,
  })
  const resource = await startMcpServer(t, provider.issuer, port)
  return { ...provider, resource, callback: await openCallback(t, provider.page) }
}

/** The redirect URI of the client. */
async function openCallback(t: TestContext, page: Page) {
  const server = createServer((_request, response) => void response.end('back'))
  const url = `http://127.0.0.1:${await serve(t, server)}/callback`
  return {
    url,
    /** The query of the next visit. */
    async next(): Promise<URLSearchParams> {
      await page.waitForURL((visited) => visited.href.startsWith(url))
      return new URL(page.url()).searchParams
    },
  }
}

type Visit = (url: URL) => Promise<URLSearchParams>

/** The SDK's client with an in-memory store. */
function newAgent(resource: string, redirectUrl: string, clientMetadataUrl?: string) {
  let [information, tokens]: [StoredOAuthClientInformation?, StoredOAuthTokens?] = []
  let verifier = ''
  let discovered: OAuthDiscoveryState | undefined
  let asked: URL | undefined
  const authProvider: OAuthClientProvider = {
    redirectUrl,
    ...(clientMetadataUrl && { clientMetadataUrl }),
    clientMetadata: {
      client_name: 'Agent',
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'none',
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
    saveDiscoveryState: (saved) => {
      discovered = saved
    },
    discoveryState: () => discovered,
  }
  const open = () => new StreamableHTTPClientTransport(new URL(resource), { authProvider })
  const newClient = () => new Client({ name: 'agent', version: '1.0.0' })
  let client = newClient()

  /** Fails without a token, lets the user sign in, and connects again. */
  async function authorize(
    attempt: () => Promise<unknown>,
    transport: StreamableHTTPClientTransport,
    visit: Visit,
  ) {
    await assert.rejects(attempt(), { name: 'UnauthorizedError' })
    assert.ok(asked)
    await transport.finishAuth(await visit(asked))
    client = newClient()
    await client.connect(open())
  }

  return {
    tokens: () => tokens,
    async connect(visit: Visit) {
      const transport = open()
      await authorize(() => client.connect(transport), transport, visit)
    },
    /** The same for a tool that needs more than was granted. */
    async connectAfter(tool: string, visit: Visit) {
      const transport = client.transport
      assert.ok(transport instanceof StreamableHTTPClientTransport)
      await authorize(() => client.callTool({ name: tool, arguments: {} }), transport, visit)
    },
    async call(name: string): Promise<string> {
      const { content } = await client.callTool({ name, arguments: {} })
      const [first] = content
      return first?.type === 'text' ? first.text : ''
    },
    invalidateAccessToken() {
      if (tokens) tokens = { ...tokens, access_token: 'expired' }
    },
  }
}
