import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'

// A program of its own, like mail-sink.ts: a hook for the claims of access tokens, which adds one.
const server = createServer(async (request, response) => {
  const { claims } = JSON.parse(await text(request))
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ claims: { ...claims, tier: 'gold' } }))
})

server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  console.log(typeof address === 'object' ? address?.port : address)
})
