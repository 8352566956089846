import { createServer } from 'node:http'

import { listenAndPrintPort } from './own/print-port.ts'

// A process like mail-sink.ts: accepts telemetry (OTLP over HTTP) and discards it. It prints its port first.
const server = createServer((request, response) => {
  request.resume().on('end', () => response.end())
})
listenAndPrintPort(server)
