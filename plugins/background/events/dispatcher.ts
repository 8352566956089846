/**
 * The delivery loop: it assigns positions to new events and handles every endpoint with due deliveries concurrently, so
 * that a slow one delays no other. Every replica runs it; leases keep replicas apart. It polls twice a second, because
 * NOTIFY takes a global lock at every commit, which would slow down sign-ins.
 */
import { setTimeout as pause } from 'node:timers/promises'

import { findDueDeliveries } from '../../../db/events/deliveries.ts'
import { assignPositions, tryLockEventStream } from '../../../db/events/events.ts'
import { type DeliveryDeps, deliverBatch } from './batch.ts'

const idleMs = 500
const batchSize = 500

export function createDispatcher(deps: DeliveryDeps) {
  const { config, db, log } = deps
  const stopping = new AbortController()
  const { signal } = stopping
  const rounds = new Map<string, Promise<void>>()
  let loop: Promise<void> | undefined

  /** Assigns positions to new events; false when there were none, or another replica is doing it. */
  async function place(): Promise<boolean> {
    const count = await db.transaction().execute(async (trx) => {
      const isOurs = await tryLockEventStream(trx, config.AUTH_DB_NAMESPACE)
      return isOurs ? assignPositions(trx, batchSize, new Date()) : 0
    })
    return count > 0
  }

  /** Sends batches to one endpoint until nothing is due there. */
  async function deliver(id: string): Promise<void> {
    try {
      while (!signal.aborted && (await deliverBatch(deps, id)));
    } catch (error) {
      log.warn({ err: error, webhook: id }, 'webhook delivery failed, retrying')
    } finally {
      rounds.delete(id)
    }
  }

  /** Returns whether to look again immediately. */
  async function look(): Promise<boolean> {
    const { hasNew, due } = await findDueDeliveries(db, new Date())
    for (const id of due) if (!rounds.has(id)) rounds.set(id, deliver(id))
    return hasNew && place()
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      const isBusy = await look().catch((error) => {
        log.warn({ err: error }, 'webhook dispatch paused: database error')
        return false
      })
      if (!isBusy) await pause(idleMs, undefined, { signal }).catch(() => {})
    }
  }

  return {
    start(): void {
      loop ??= run()
    },

    /** Waits for requests in progress, which have a time limit. */
    async stop(): Promise<void> {
      stopping.abort()
      await loop
      await Promise.all(rounds.values())
    },
  }
}
