/** Keeps one replica's keys in step: at once when the database says so, and every few seconds in any case. */
import type { FastifyBaseLogger } from 'fastify'

import type { Listen, Listener } from './listener.ts'
import { signingKeysChannel } from './stored-keys.ts'

const pollMilliseconds = 5_000

export interface FollowOptions {
  sync(now: Date): Promise<void>
  listen: Listen | undefined
  log: Pick<FastifyBaseLogger, 'warn'>
}

export interface Follower {
  close(): Promise<void>
}

/** Starts at once. What fails is logged and tried again at the next poll. */
export function follow({ sync, listen, log }: FollowOptions): Follower {
  let listener: Listener | undefined
  let working: Promise<void> | undefined

  async function look(): Promise<void> {
    try {
      await sync(new Date())
    } catch (err) {
      log.warn({ err }, 'the signing keys could not be read; those already known stay in use')
    }
  }

  async function tick(): Promise<void> {
    try {
      if (listen && !listener?.isListening()) {
        listener = await listen(signingKeysChannel, () => void look())
      }
    } catch (err) {
      log.warn({ err }, 'key changes are found by polling, as the database cannot be listened to')
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
