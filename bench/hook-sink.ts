import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'

import { listenAndPrintPort } from './own/print-port.ts'

// A process like mail-sink.ts: a custom access token hook that adds one claim.
const server = createServer(async (request, response) => {
  const { claims } = JSON.parse(await text(request))
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ claims: { ...claims, tier: 'gold' } }))
})

listenAndPrintPort(server)
