/**
 * One connection of the process that listens for NOTIFY on all channels. Behind some poolers it receives nothing, so
 * followers also poll.
 */
import type { FastifyBaseLogger } from 'fastify'

import { DatabaseClient } from '../pool/database-client.ts'

export interface Listener {
  /** False once the connection is gone. */
  isListening(): boolean
  close(): Promise<void>
}

/** Calls `onNotify` for each notification on the channel. */
export type SubscribeFn = (channel: string, onNotify: () => void) => Promise<Listener>

type Log = Pick<FastifyBaseLogger, 'warn'>

/** By connection string. */
const connections = new Map<string, ListenConnection>()

/** Subscriptions to the same database share a connection. */
export function createNotificationListener(connectionString: string, log: Log): SubscribeFn {
  return async (channel, onNotify) => {
    const known = connections.get(connectionString)
    const connection = known?.isOpen ? known : new ListenConnection(connectionString, log)
    connections.set(connectionString, connection)
    const subscription = { channel, onNotify }
    await connection.add(subscription)
    return {
      isListening: () => connection.isOpen,
      close: () => connection.remove(subscription),
    }
  }
}

interface Subscription {
  channel: string
  onNotify: () => void
}

class ListenConnection {
  readonly #client: DatabaseClient
  readonly #connected: Promise<unknown>
  readonly #subscriptions = new Set<Subscription>()
  /** Until it is lost or closed. */
  isOpen = true

  constructor(connectionString: string, log: Log) {
    this.#client = new DatabaseClient({
      connectionString,
      application_name: 'postern listener',
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      connectionTimeoutMillis: 5_000,
    })
    this.#client.on('notification', ({ channel }) => this.#notify(channel))
    this.#client.on('error', (err) => log.warn({ err }, 'LISTEN connection lost'))
    this.#client.on('end', () => {
      this.isOpen = false
    })
    this.#connected = this.#client.connect()
  }

  #notify(channel: string): void {
    for (const one of this.#subscriptions) if (one.channel === channel) one.onNotify()
  }

  async add(subscription: Subscription): Promise<void> {
    this.#subscriptions.add(subscription)
    try {
      await this.#connected
      await this.#client.query(`listen ${this.#client.escapeIdentifier(subscription.channel)}`)
    } catch (error) {
      await this.remove(subscription)
      throw error
    }
  }

  async remove(subscription: Subscription): Promise<void> {
    this.#subscriptions.delete(subscription)
    if (this.#subscriptions.size > 0) return
    this.isOpen = false
    await this.#client.end().catch(() => undefined)
  }
}
