import { createServer, type Socket } from 'node:net'

import { listenAndPrintPort } from './own/print-port.ts'

// A process of its own, so that accepting emails costs neither the generator nor the server any time. It prints its
// port on the first line and discards all emails. It knows only the SMTP that a client needs, and sends the replies to
// all received commands at once, as mail servers do (RFC 2920): with a library that parses each email and replies to
// each command, a sign-up took 2 % more processor time of the machine.
const replies: Record<string, string> = {
  EHLO: '250-sink\r\n250-PIPELINING\r\n250-8BITMIME\r\n250 SMTPUTF8\r\n',
  DATA: '354 send the message\r\n',
  QUIT: '221 bye\r\n',
}

const server = createServer((socket) => {
  const takeCommands = createReader()
  socket.setEncoding('latin1')
  socket.on('error', () => {})
  socket.on('data', (text) => respond(socket, takeCommands(String(text))))
  socket.write('220 sink\r\n')
})

/** Returns a function that takes what was received and returns the first words of all complete commands and messages. */
function createReader(): (text: string) => string[] {
  let received = ''
  let isMessage = false
  return (text) => {
    received += text
    const commands: string[] = []
    for (;;) {
      const end = isMessage ? '\r\n.\r\n' : '\r\n'
      const at = received.indexOf(end)
      if (at < 0) return commands
      const command = isMessage ? 'message' : received.slice(0, 4).toUpperCase()
      received = received.slice(at + end.length)
      isMessage = command === 'DATA'
      commands.push(command)
    }
  }
}

function respond(socket: Socket, commands: string[]): void {
  if (commands.length === 0) return
  socket.write(commands.map((command) => replies[command] ?? '250 ok\r\n').join(''))
  if (commands.includes('QUIT')) socket.end()
}

listenAndPrintPort(server)
