import { createServer } from 'node:http'

// A program of its own, like mail-sink.ts: takes telemetry (OTLP over HTTP) and keeps none. It says its port first.
const server = createServer((request, response) => {
  request.resume().on('end', () => response.end())
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  console.log(typeof address === 'object' ? address?.port : address)
})
