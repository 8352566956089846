/** An MCP server that accepts access tokens of Postern. README.md says how to run it. */
import { createServer } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

import {
  createMcpHandler,
  fromJsonSchema,
  getOAuthProtectedResourceMetadataUrl,
  hostHeaderValidationResponse,
  McpServer,
  OAuthError,
  OAuthErrorCode,
  originValidationResponse,
  requireBearerAuth,
} from '@modelcontextprotocol/server'
import { createRemoteJWKSet, jwtVerify } from 'jose'

const authUrl = process.env.AUTH_URL ?? 'http://127.0.0.1:8081'
const resource = new URL(process.env.MCP_URL ?? 'http://localhost:3002/mcp')

/** RFC 9728. Without `authorization_servers`, because a client of this example gets its token manually. */
const metadata = {
  resource: resource.href,
  resource_name: 'Notes',
  bearer_methods_supported: ['header'],
}
const metadataUrl = getOAuthProtectedResourceMetadataUrl(resource)

const keys = createRemoteJWKSet(new URL(`${authUrl}/.well-known/jwks.json`))
const options = { issuer: process.env.AUTH_JWT_ISSUER ?? authUrl, audience: 'authenticated' }

/** The user of the token; throws if it is not an access token of a user. */
async function verifyAccessToken(token) {
  const { payload } = await jwtVerify(token, keys, options).catch((error) => {
    throw new OAuthError(OAuthErrorCode.InvalidToken, error.message)
  })
  if (payload.role !== 'authenticated' || !payload.sub) {
    throw new OAuthError(OAuthErrorCode.InvalidToken, 'This is not a token of a user')
  }
  const { sub, email } = payload
  return { token, clientId: 'postern', scopes: [], expiresAt: payload.exp, extra: { sub, email } }
}

/** By user id. A real server stores them in tables with policies (examples/rls). */
const notes = new Map()

const mcp = createMcpHandler(({ authInfo }) => {
  const { sub, email } = authInfo.extra
  const own = notes.get(sub) ?? []
  const server = new McpServer({ name: 'notes', version: '1.0.0' })
  const text = (words) => ({ content: [{ type: 'text', text: words }] })
  server.registerTool(
    'add_note',
    {
      description: 'Stores a note of the signed-in user.',
      inputSchema: fromJsonSchema({
        type: 'object',
        properties: { note: { type: 'string', minLength: 1, maxLength: 1000 } },
        required: ['note'],
      }),
    },
    async ({ note }) => {
      notes.set(sub, [...own, note])
      return text(`Kept for ${email}.`)
    },
  )
  server.registerTool(
    'my_notes',
    { description: 'The notes of the signed-in user.' },
    async () => text(own.join('\n') || 'There are none.'),
  )
  return server
})

const authenticate = requireBearerAuth({
  verifier: { verifyAccessToken },
  resourceMetadataUrl: metadataUrl,
})

async function handle(request) {
  // A page of another site must not reach this server through a user's browser.
  const names = [resource.hostname]
  const rejected =
    hostHeaderValidationResponse(request, names) ?? originValidationResponse(request, names)
  if (rejected) return rejected
  const { href, pathname } = new URL(request.url)
  if (href === metadataUrl) return Response.json(metadata)
  if (pathname !== resource.pathname) return new Response('Not found', { status: 404 })
  const authInfo = await authenticate(request)
  return authInfo instanceof Response ? authInfo : mcp.fetch(request, { authInfo })
}

createServer(async (incoming, outgoing) => {
  try {
    const { method, headers, url } = incoming
    const body = method === 'POST' ? { body: Readable.toWeb(incoming), duplex: 'half' } : {}
    const response = await handle(new Request(new URL(url, resource), { method, headers, ...body }))
    outgoing.writeHead(response.status, Object.fromEntries(response.headers))
    if (response.body) await pipeline(Readable.fromWeb(response.body), outgoing)
    else outgoing.end()
  } catch (error) {
    console.error(error)
    outgoing.destroy()
  }
}).listen(Number(resource.port || 80), () => console.log(`The MCP server is at ${resource.href}`))
