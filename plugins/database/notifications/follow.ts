/** Detects changes by other replicas: immediately on NOTIFY, and by polling every few seconds in any case. */
import type { FastifyBaseLogger } from 'fastify'

import type { Listener, SubscribeFn } from './listener.ts'

const pollMilliseconds = 5_000

interface FollowOptions {
  channel: string
  /** The name of the changed object, in the singular, for log lines. */
  subject: string
  /** Reads the stored state. Must not throw. */
  look(): Promise<void>
  /** Without it, changes are found by polling only. */
  listen: SubscribeFn | undefined
  log: Pick<FastifyBaseLogger, 'warn'>
}

export interface ChangeFollower {
  close(): Promise<void>
}

/** Starts immediately. */
export function followChanges(options: FollowOptions): ChangeFollower {
  const { channel, subject, look, listen, log } = options
  let listener: Listener | undefined
  let working: Promise<void> | undefined

  async function tick(): Promise<void> {
    try {
      if (listen && !listener?.isListening()) listener = await listen(channel, () => void look())
    } catch (err) {
      log.warn({ err }, `LISTEN failed, ${subject} changes are polled`)
    }
    await look()
  }

  function start(): void {
    working ??= tick().finally(() => {
      working = undefined
    })
  }

  start()
  const timer = setInterval(start, pollMilliseconds).unref()

  return {
    async close() {
      clearInterval(timer)
      await working
      await listener?.close()
    },
  }
}
