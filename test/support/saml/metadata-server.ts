/** The https server with the metadata of an identity provider. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TestContext } from 'node:test'

import { serve } from '../processes/listening.ts'
import { createServer } from '../providers/tls.ts'

export interface ServedMetadata {
  xml: string
  count: number
  /** Awaited before each response. */
  before?: () => Promise<void>
}

/** Serves the content of `served` at its root over https. */
export async function metadataServer(t: TestContext, served: ServedMetadata) {
  const listener = async (request: IncomingMessage, response: ServerResponse) => {
    served.count += 1
    await served.before?.()
    response.writeHead(request.url === '/' ? 200 : 404).end(served.xml)
  }
  return `https://127.0.0.1:${await serve(t, createServer(listener, { https: true }))}`
}
