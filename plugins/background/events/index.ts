/** Events for webhooks and GET /admin/events: recording them, managing endpoints and delivering. */
import { setTimeout as pause } from 'node:timers/promises'

import { findDueDeliveries } from '../../../db/events/deliveries.ts'
import {
  assignPositions,
  deleteOldEvents,
  deleteUnpositionedEvents,
  tryLockEventStream,
} from '../../../db/events/events.ts'
import { type DeliveryRow, deleteOrphanDeliveries } from '../../../db/events/history.ts'
import type { WebhookRow } from '../../../db/events/webhooks.ts'
import { validationFailed } from '../../../schemas/errors.ts'
import { type Delivery, toWebhook, type WebhookSource } from '../../../schemas/webhook.ts'
import { type Deps, definePlugin } from '../../define-plugin.ts'
import { describeActor } from '../../observability/request-context/index.ts'
import { type DeliveryDeps, deliverBatch } from './batch.ts'
import { changeEndpoint, createEndpoint, removeEndpoint, rotateSecret } from './endpoints.ts'
import { syncEnvironment } from './environment.ts'
import { type SentEvent, toBody, toMessage } from './message.ts'
import { createRecorder } from './record.ts'
import { listWebhookSecrets } from './secrets.ts'
import { sendEvent } from './send.ts'

// Webhooks and deliveries as the admin API returns them.

/** The audit payload of a webhook. */
function endpointTraits(row: WebhookSource) {
  const { url, description, events, state } = toWebhook(row)
  return { url, description, events, state }
}

/** The request and the response of a delivery. */
function toDelivery(row: DeliveryRow, url: string): Delivery {
  const { id, position, type, state, attempts, answer } = row
  return {
    event_id: id,
    position,
    type,
    state,
    attempts,
    answer,
    first_attempt_at: toIsoTime(row.first_attempt_at),
    last_attempt_at: toIsoTime(row.last_attempt_at),
    next_attempt_at: state === 'waiting' ? toIsoTime(row.due_at) : null,
    delivered_at: toIsoTime(row.delivered_at),
    request: toStoredRequest(row, url),
  }
}

/** Without signatures, which differ between attempts. */
function toStoredRequest(event: SentEvent, url: string): Delivery['request'] {
  const headers = { 'content-type': 'application/json', 'webhook-id': event.id }
  return { url, headers, body: toBody(event) }
}

const toIsoTime = (date: Date | null) => date?.toISOString() ?? null

const idleMs = 500

const batchSize = 500

/**
 * The delivery loop: it assigns positions to new events and handles every endpoint with due deliveries concurrently, so
 * that a slow one delays no other. Every replica runs it; leases keep replicas apart. It polls twice a second, because
 * NOTIFY takes a global lock at every commit, which would slow down sign-ins.
 */
function createDispatcher(deps: DeliveryDeps) {
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

declare module 'fastify' {
  interface FastifyInstance {
    events: ReturnType<typeof createEvents>
  }
}

type DepNames = (typeof deps)[number]

const deps = [
  'addHook',
  'config',
  'db',
  'encryption',
  'httpClient',
  'jobQueue',
  'log',
  'telemetry',
] as const

function createEvents(deps: Deps<DepNames>) {
  const recorder = createRecorder(deps.config, describeActor)
  const dispatcher = createDispatcher(deps)
  scheduleEventCleanup(deps)
  deps.addHook('onReady', async () => {
    if (!recorder.enabled) return
    await syncEnvironment(deps, new Date())
    dispatcher.start()
  })
  // Runs before the pool and the HTTP client close, which deliveries in progress still use.
  deps.addHook('onClose', dispatcher.stop)
  return {
    ...recorder,
    removeEndpoint,
    endpointTraits,
    toDelivery,
    createEndpoint: createEndpoint.bind(undefined, deps),
    changeEndpoint: changeEndpoint.bind(undefined, deps),
    rotateSecret: rotateSecret.bind(undefined, deps),
    testEndpoint: testEndpoint.bind(undefined, deps),
    removeOld: removeOld.bind(undefined, deps),
  }
}

export default definePlugin({ name: 'events', deps, create: createEvents })

// Deletes old events with the status of their deliveries.

/** Runs every hour, on one replica. Also when events have been disabled: stored ones still expire. */
function scheduleEventCleanup(deps: Deps<'config' | 'db' | 'jobQueue'>): void {
  deps.jobQueue.addTask('remove_old_events', () => removeOld(deps, new Date()), {
    cron: '47 * * * *',
  })
}

async function removeOld({ config, db }: Deps<'config' | 'db'>, now: Date): Promise<void> {
  const limit = config.AUTH_DB_CLEANUP_BATCH_SIZE
  const before = new Date(now.getTime() - config.AUTH_EVENTS_RETENTION * 1000)
  while ((await deleteOldEvents(db, before, limit)) === limit);
  while ((await deleteUnpositionedEvents(db, before, limit)) === limit);
  while ((await deleteOrphanDeliveries(db, limit)) === limit);
}

// Sends a test event immediately, so that an admin sees the endpoint's response.

/** Also for a paused endpoint. Throws validation_failed when this replica does not have its secret. */
async function testEndpoint(
  deps: Deps<'config' | 'encryption' | 'httpClient'>,
  webhook: WebhookRow,
  now: Date,
) {
  const secrets = listWebhookSecrets(deps, webhook, now)
  if (secrets.length === 0) {
    throw validationFailed('This webhook is not in AUTH_WEBHOOK_ENDPOINTS of this server', 422)
  }
  const event = {
    id: crypto.randomUUID(),
    type: 'webhook.test',
    user_id: null,
    data: { webhook_id: webhook.id },
    created_at: now,
  }
  const { answer, accepted } = await sendEvent(
    deps,
    { url: webhook.url, secrets },
    toMessage(event),
  )
  return { accepted, request: toStoredRequest(event, webhook.url), answer }
}
