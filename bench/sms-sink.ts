import { createServer } from 'node:http'

// A process like mail-sink.ts: accepts SMS with Twilio’s API and discards them.
const server = createServer((request, response) => {
  request.resume().on('end', () => {
    response.writeHead(201, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ sid: 'SM1', status: 'queued' }))
  })
})

server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  console.log(typeof address === 'object' ? address?.port : address)
})
