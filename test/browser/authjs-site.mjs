/**
 * A site with Auth.js, configured as docs/oauth-clients/authjs.md has it, on Node's own HTTP server. It is a process of
 * its own: its types bring those of a browser.
 * Arguments: port, issuer, client_id, client_secret.
 */
import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'

import { Auth } from '@auth/core'

import { readBlocks, run } from '../docs/javascript-blocks/blocks.ts'

const [port, issuer, clientId, clientSecret] = process.argv.slice(2)

const [block = ''] = readBlocks('docs/oauth-clients/authjs.md')
const documented = await run(
  block.replace('export const { handlers, auth }', 'const config').replace('https://auth.example.com', issuer),
  {
    NextAuth: (options) => options,
    process: { env: { AUTH_EXAMPLE_ID: clientId, AUTH_EXAMPLE_SECRET: clientSecret } },
  },
)
const config = {
  ...documented.config,
  basePath: '/auth',
  secret: 'only-for-tests',
  trustHost: true,
}

const server = createServer(async (incoming, outgoing) => {
  const { method, url, headers } = incoming
  if (!url.startsWith('/auth')) return outgoing.end('home')
  const body = method === 'POST' ? await buffer(incoming) : undefined
  const request = new Request(`http://127.0.0.1:${port}${url}`, { method, headers, body })
  const response = await Auth(request, config)
  for (const [name, value] of response.headers) {
    if (name !== 'set-cookie') outgoing.setHeader(name, value)
  }
  outgoing.setHeader('set-cookie', response.headers.getSetCookie())
  outgoing.writeHead(response.status)
  outgoing.end(await response.text())
})
server.listen(Number(port), '127.0.0.1')
