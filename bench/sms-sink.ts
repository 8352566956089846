import { createServer } from 'node:http'

import { listenAndPrintPort } from './own/print-port.ts'

// A process like mail-sink.ts: accepts SMS with Twilio’s API and discards them.
const server = createServer((request, response) => {
  request.resume().on('end', () => {
    response.writeHead(201, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ sid: 'SM1', status: 'queued' }))
  })
})

listenAndPrintPort(server)
