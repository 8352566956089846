/** One connection that waits for NOTIFY. Behind some poolers it hears nothing; whoever listens polls as well. */
import type { FastifyBaseLogger } from 'fastify'
import pg from 'pg'

export interface Listener {
  /** False once the connection is gone. */
  isListening(): boolean
  close(): Promise<void>
}

/** Calls `onNotify` for each notification on the channel. */
export type Listen = (channel: string, onNotify: () => void) => Promise<Listener>

export function createListen(
  connectionString: string,
  log: Pick<FastifyBaseLogger, 'warn'>,
): Listen {
  return async (channel, onNotify) => {
    const client = new pg.Client({
      connectionString,
      application_name: 'postern listener',
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      connectionTimeoutMillis: 5_000,
    })
    let listening = false
    client.on('notification', () => onNotify())
    client.on('error', (err) => log.warn({ err }, 'the connection that hears key changes was lost'))
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
