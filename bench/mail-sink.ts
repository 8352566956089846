import { SMTPServer } from 'smtp-server'

// A process of its own, so that accepting emails costs neither the generator nor the server any time. It prints its
// port on the first line and discards all emails.
const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ['AUTH', 'STARTTLS'],
  onData(stream, _session, callback) {
    stream.resume().on('end', () => callback())
  },
})

server.on('error', () => {})
const listening = server.listen(0, '127.0.0.1', () => {
  const address = listening.address()
  console.log(typeof address === 'object' ? address?.port : address)
})
