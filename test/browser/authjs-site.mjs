/**
 * A site with Auth.js on Node's own HTTP server, as a process of its own: its types bring those of a browser.
 * Arguments: port, issuer, client_id, client_secret.
 */
import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'

import { Auth } from '@auth/core'

const [port, issuer, clientId, clientSecret] = process.argv.slice(2)

const config = {
  basePath: '/auth',
  secret: 'only-for-tests',
  trustHost: true,
  providers: [
    {
      id: 'example',
      name: 'Example',
      type: 'oidc',
      issuer,
      clientId,
      clientSecret,
      authorization: { params: { scope: 'openid email profile' } },
      checks: ['pkce', 'state', 'nonce'],
    },
  ],
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
