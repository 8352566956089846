/** Metadata documents of clients, served by a real server in the place of https://client.example. */
import { createServer } from 'node:http'
import type { TestContext } from 'node:test'

import { createHttpClient } from '../../plugins/outgoing/http-client/index.ts'
import type { App } from './server.ts'

export interface Document {
  status?: number
  headers?: Record<string, string>
  body: string
}

/** Requests for https://client.example reach a server of the test; everything else stays as it is. */
export async function serveDocuments(t: TestContext, app: App) {
  const state = { document: { body: '' } as Document, requests: 0 }
  const server = createServer((_request, response) => {
    state.requests += 1
    const { status = 200, headers = {}, body } = state.document
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => void server.close())
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const client = createHttpClient({
    dev: true,
    proxy: { httpProxy: undefined, httpsProxy: undefined, noProxy: undefined },
  })
  t.after(() => void client.close())
  t.mock.method(app.httpClient, 'fetchFromOauthClient', (input: string, init: RequestInit) =>
    client.guardedFetch(
      String(input).replace('https://client.example', `http://127.0.0.1:${port}`),
      init,
    ),
  )
  return state
}
