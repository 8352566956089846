/** A real SMTP server on a free port that stores received emails. */
import type { Socket } from 'node:net'
import type { TestContext } from 'node:test'

import { type ParsedMail, simpleParser } from 'mailparser'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

import { defaultMailTimeouts, type MailTransportOptions } from '../../mail/smtp-options.ts'
import { listeningPort } from '../support/processes/listening.ts'

interface Received {
  raw: string
  parsed: ParsedMail
  recipients: string[]
  secure: boolean
  user: string | undefined
}

export async function startSmtp(t: TestContext, options: SMTPServerOptions = {}) {
  const emails: Received[] = []
  const sockets = new Set<Socket>()
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    disableReverseLookup: true,
    closeTimeout: 100,
    onData(stream, session, callback) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', async () => {
        const raw = Buffer.concat(chunks)
        emails.push({
          raw: raw.toString(),
          parsed: await simpleParser(raw),
          recipients: session.envelope.rcptTo.map(({ address }) => address),
          secure: session.secure,
          user: session.user,
        })
        callback(null)
      })
    },
    ...options,
  })
  server.on('error', () => {})
  server.server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const port = listeningPort(server.server)
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    return new Promise<void>((resolve) => server.close(() => resolve()))
  })
  return { port, emails, sockets }
}

export function transportOptions(
  port: number,
  change: Partial<MailTransportOptions> = {},
): MailTransportOptions {
  return {
    host: '127.0.0.1',
    port,
    ehloName: 'auth.example.com',
    from: { name: 'Example', address: 'no-reply@example.com' },
    headers: {},
    maxConnections: 2,
    timeouts: { ...defaultMailTimeouts, connection: 1, greeting: 1, socket: 1, total: 5 },
    ...change,
  }
}
