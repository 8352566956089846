/** One connection that listens for NOTIFY. Behind some poolers it receives nothing, so followers also poll. */
import type { FastifyBaseLogger } from 'fastify'

import { DatabaseClient } from '../pool/database-client.ts'

export interface Listener {
  /** False once the connection is gone. */
  isListening(): boolean
  close(): Promise<void>
}

/** Calls `onNotify` for each notification on the channel. */
export type SubscribeFn = (channel: string, onNotify: () => void) => Promise<Listener>

/** `subject` names what changes, in log lines. */
export function createNotificationListener(
  connectionString: string,
  log: Pick<FastifyBaseLogger, 'warn'>,
  subject: string,
): SubscribeFn {
  return async (channel, onNotify) => {
    const client = new DatabaseClient({
      connectionString,
      application_name: 'postern listener',
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      connectionTimeoutMillis: 5_000,
    })
    let listening = false
    client.on('notification', () => onNotify())
    client.on('error', (err) => log.warn({ err }, `LISTEN connection for ${subject} changes lost`))
    client.on('end', () => {
      listening = false
    })
    try {
      await client.connect()
      await client.query(`listen ${client.escapeIdentifier(channel)}`)
    } catch (error) {
      await client.end().catch(() => undefined)
      throw error
    }
    listening = true
    return { isListening: () => listening, close: () => client.end() }
  }
}
