/** An MCP server as a protected resource: the SDK's own server, which verifies the tokens of the authorization server. */
import { createServer, type IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'

import {
  type AuthInfo,
  createMcpHandler,
  getOAuthProtectedResourceMetadataUrl,
  McpServer,
  OAuthError,
  OAuthErrorCode,
  requireBearerAuth,
} from '@modelcontextprotocol/server'
import { createRemoteJWKSet, jwtVerify } from 'jose'

import type { Ending } from './processes/ending.ts'

interface McpResource {
  url: string
  /** The claims of the last verified token. */
  last: () => AuthInfo | undefined
}

/** Its tool `read` needs the scope notes:read, its tool `write` needs notes:write as well. */
export async function startMcpServer(
  t: Ending,
  issuer: string,
  port: number,
): Promise<McpResource> {
  const resource = `http://127.0.0.1:${port}/mcp`
  const metadataUrl = getOAuthProtectedResourceMetadataUrl(new URL(resource))
  const keys = createRemoteJWKSet(new URL(`${issuer}/.well-known/jwks.json`))
  let last: AuthInfo | undefined

  async function verifyAccessToken(token: string): Promise<AuthInfo> {
    try {
      const { payload } = await jwtVerify(token, keys, { issuer, audience: resource })
      const { client_id: clientId, scope, exp } = payload
      last = {
        token,
        clientId: String(clientId),
        scopes: String(scope).split(' '),
        expiresAt: exp ?? 0,
      }
      return last
    } catch {
      throw new OAuthError(OAuthErrorCode.InvalidToken, 'The token is not for this server')
    }
  }

  const gate = (...requiredScopes: string[]) =>
    requireBearerAuth({
      verifier: { verifyAccessToken },
      requiredScopes,
      resourceMetadataUrl: metadataUrl,
    })
  const mayRead = gate('notes:read')
  const mayWrite = gate('notes:read', 'notes:write')
  const handler = createMcpHandler(makeServer)

  async function respond(request: Request): Promise<Response> {
    if (request.url === metadataUrl) {
      const document = {
        resource,
        authorization_servers: [issuer],
        scopes_supported: ['notes:read'],
      }
      return Response.json(document)
    }
    const body = await request.clone().text()
    const passed = await (/"name":\s*"write"/.test(body) ? mayWrite : mayRead)(request)
    return passed instanceof Response ? passed : handler.fetch(request, { authInfo: passed })
  }

  const server = createServer(async (incoming, outgoing) => {
    const response = await respond(await toRequest(incoming, port))
    outgoing.writeHead(response.status, Object.fromEntries(response.headers))
    outgoing.end(Buffer.from(await response.arrayBuffer()))
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  t.after(async () => {
    await handler.close()
    server.closeAllConnections()
    server.close()
  })
  return { url: resource, last: () => last }
}

function makeServer(): McpServer {
  const server = new McpServer({ name: 'notes', version: '1.0.0' })
  for (const name of ['read', 'write']) {
    server.registerTool(name, { description: `${name} notes` }, async () => ({
      content: [{ type: 'text', text: `${name}: done` }],
    }))
  }
  return server
}

async function toRequest(incoming: IncomingMessage, port: number): Promise<Request> {
  const { method = 'GET', url = '/' } = incoming
  const headers = Object.entries(incoming.headers).map(([name, value]) => [name, String(value)])
  const body = method === 'POST' ? new Uint8Array(await buffer(incoming)) : undefined
  return new Request(`http://127.0.0.1:${port}${url}`, {
    method,
    headers: Object.fromEntries(headers),
    ...(body && { body }),
  })
}
