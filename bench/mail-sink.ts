import { SMTPServer } from 'smtp-server'

// A program of its own, so that taking mail costs neither the generator nor the server any time.
// It says its port on the first line and takes everything without keeping it.
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
