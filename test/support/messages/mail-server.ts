/** A real SMTP server for tests: stores accepted emails and fails on request. */
import { once } from 'node:events'
import type { Socket } from 'node:net'

import { type ParsedMail, simpleParser } from 'mailparser'
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server'

import type { Ending } from '../processes/ending.ts'
import { listeningPort } from '../processes/listening.ts'
import { until } from '../processes/until.ts'

/**
 * - accept: accepts all emails.
 * - temporary, permanent: responds 451 or 550 to each recipient, repeating the address like real servers.
 * - hang: does not respond after DATA, and accepts nothing.
 * - silent: accepts the email without responding.
 * - drop: accepts the email and disconnects before responding.
 */
export type Behaviour = 'accept' | 'temporary' | 'permanent' | 'hang' | 'silent' | 'drop'

export interface ReceivedMail {
  /** The envelope recipients, whatever the headers say. */
  to: string
  from: string
  mail: ParsedMail
  raw: string
}

export type MailServer = Awaited<ReturnType<typeof startMailServer>>

/** Listens on a free port of 127.0.0.1 without TLS and without sign-in; stopped when the test ends. */
export async function startMailServer(t?: Ending) {
  const messages: ReceivedMail[] = []
  const state = { behaviour: 'accept' as Behaviour }
  const sockets = new Set<Socket>()
  let server = await listen(0)
  const port = listeningPort(server.server)

  async function receive(stream: SMTPServerDataStream, session: SMTPServerSession, done: Done) {
    const chunks: Buffer[] = []
    for await (const chunk of stream) chunks.push(chunk)
    const raw = Buffer.concat(chunks)
    if (state.behaviour === 'hang') return
    const mail = await simpleParser(raw, { skipTextLinks: true, skipTextToHtml: true })
    const from = session.envelope.mailFrom ? session.envelope.mailFrom.address : ''
    for (const { address: to } of session.envelope.rcptTo) {
      messages.push({ to, from, mail, raw: raw.toString() })
    }
    if (state.behaviour === 'drop') return dropAll()
    if (state.behaviour === 'silent') return
    done()
  }

  async function listen(port: number): Promise<SMTPServer> {
    const server = new PlainServer({
      disabledCommands: ['AUTH', 'STARTTLS'],
      onRcptTo: ({ address }, _session, done) => done(createRejection(state.behaviour, address)),
      onData: (stream, session, done) => {
        receive(stream, session, done).catch(done)
      },
    })
    server.on('error', () => {})
    server.server.on('connection', (socket) => {
      sockets.add(socket)
      socket.on('close', () => sockets.delete(socket))
    })
    server.listen(port, '127.0.0.1')
    await once(server.server, 'listening')
    return server
  }

  function dropAll(): void {
    for (const socket of sockets) socket.destroy()
  }

  async function stop(): Promise<void> {
    dropAll()
    await new Promise<void>((resolve) => server.close(resolve))
  }

  /** Waits until a mail fits (a predicate, or a recipient's address). */
  function waitFor(expected: string | ((message: ReceivedMail) => boolean)): Promise<ReceivedMail> {
    const fits = typeof expected === 'string' ? (m: ReceivedMail) => m.to === expected : expected
    const missing = `no mail ${typeof expected === 'string' ? `to ${expected}` : 'that fits'} came`
    return until(() => messages.find(fits), { everyMs: 10, missing })
  }

  t?.after(stop)
  return {
    host: '127.0.0.1',
    port,
    /** Everything accepted, oldest first. */
    messages,
    waitFor,
    behave(behaviour: Behaviour): void {
      state.behaviour = behaviour
    },
    /** Rejects connections from now on and closes those that are open. */
    stop,
    /** Listens again on the same port. */
    async restart(): Promise<void> {
      server = await listen(port)
    },
    /** The settings for a server of ours to send here. */
    env: {
      AUTH_SMTP_HOST: '127.0.0.1',
      AUTH_SMTP_PORT: String(port),
      AUTH_SMTP_ADMIN_EMAIL: 'auth@example.com',
    },
  }
}

/** Without the TLS context, which is not used and takes most of the time of a start. */
class PlainServer extends SMTPServer {
  override updateSecureContext(): void {
    this.secureContext = new Map()
  }
}

type Done = (error?: Error | null) => void

function createRejection(behaviour: Behaviour, address: string): Error | null {
  const reject = (responseCode: number, text: string) =>
    Object.assign(new Error(`<${address}> ${text}`), { responseCode })
  if (behaviour === 'temporary') return reject(451, 'try again later')
  if (behaviour === 'permanent') return reject(550, 'no such user')
  return null
}
