import { createServer } from 'node:http'

// A process like mail-sink.ts: accepts telemetry (OTLP over HTTP) and discards it. It prints its port first.
const server = createServer((request, response) => {
  request.resume().on('end', () => response.end())
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  console.log(typeof address === 'object' ? address?.port : address)
})
