/**
 * The loop that brings events to endpoints: it gives new events their positions, and sees to every endpoint for which
 * something is due, each by itself, so that a slow one delays no other. Every replica runs it; claims keep them apart.
 * It looks twice a second instead of being notified: NOTIFY takes turns at every commit, and sign-ins would pay for it.
 */
import { setTimeout as pause } from 'node:timers/promises'

import { holdStream, placeEvents } from '../../db/events.ts'
import { lookForWork } from '../../db/webhook-deliveries.ts'
import { deliverRound, type RoundHouse } from './round.ts'

export type Dispatcher = ReturnType<typeof createDispatcher>

const idleMs = 500
const batchSize = 500

export function createDispatcher(house: RoundHouse) {
  const { config, db, log } = house
  const stopping = new AbortController()
  const { signal } = stopping
  const rounds = new Map<string, Promise<void>>()
  let loop: Promise<void> | undefined

  /** Gives positions to what is in the inbox; false when there was nothing, or another replica does. */
  async function place(): Promise<boolean> {
    const count = await db.transaction().execute(async (trx) => {
      const isOurs = await holdStream(trx, config.AUTH_DB_NAMESPACE)
      return isOurs ? placeEvents(trx, batchSize, new Date()) : 0
    })
    return count > 0
  }

  /** Rounds at one endpoint until nothing is due there. */
  async function deliver(id: string): Promise<void> {
    try {
      while (!signal.aborted && (await deliverRound(house, id)));
    } catch (error) {
      log.warn({ err: error, webhook: id }, 'events could not be delivered; they are tried again')
    } finally {
      rounds.delete(id)
    }
  }

  /** True when it is worth looking again at once. */
  async function look(): Promise<boolean> {
    const { hasNew, due } = await lookForWork(db, new Date())
    for (const id of due) if (!rounds.has(id)) rounds.set(id, deliver(id))
    return hasNew && place()
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      const isBusy = await look().catch((error) => {
        log.warn({ err: error }, 'events wait: the database fails')
        return false
      })
      if (!isBusy) await pause(idleMs, undefined, { signal }).catch(() => {})
    }
  }

  return {
    start(): void {
      loop ??= run()
    },

    /** Waits for the requests that are under way, which have a time limit. */
    async stop(): Promise<void> {
      stopping.abort()
      await loop
      await Promise.all(rounds.values())
    },
  }
}
