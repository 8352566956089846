/**
 * Records events in the transaction of the change they report, and on hot paths in the same statement
 * (docs/webhooks.md). When events are disabled, nothing is built or written.
 */
import type { Config } from '../../../config/groups/index.ts'
import type { Db } from '../../../db/core/database.ts'
import { insertEvents, type NewEvent } from '../../../db/events/outbox.ts'
import { type EventPayload, type EventType, eventKinds } from '../../../schemas/events.ts'

type EventSettings = Pick<Config, 'AUTH_EVENTS_ENABLED' | 'AUTH_WEBHOOK_ENDPOINTS'>

export function createRecorder(config: EventSettings) {
  /** Whether anything can receive events. */
  const enabled = config.AUTH_EVENTS_ENABLED || config.AUTH_WEBHOOK_ENDPOINTS.length > 0

  /** Builds an event for the statement that inserts it; none when events are disabled. */
  function draft<T extends EventType>(
    type: T,
    userId: string | null,
    facts: EventPayload<T>,
  ): NewEvent[] {
    if (!enabled) return []
    const data = { user_id: userId, ...facts }
    const { withUser } = eventKinds[type]
    return [{ id: crypto.randomUUID(), type, user_id: userId, data, with_user: withUser }]
  }

  return {
    enabled,
    draft,

    /** Inserts drafts; sends no statement when there are none. */
    async write(db: Db, drafts: readonly NewEvent[], now: Date): Promise<void> {
      if (drafts.length > 0) await insertEvents(db, drafts, now)
    },

    /** Inserts one event in the transaction of `db`. */
    async record<T extends EventType>(
      db: Db,
      type: T,
      userId: string | null,
      facts: EventPayload<T>,
      now: Date,
    ): Promise<void> {
      if (enabled) await insertEvents(db, draft(type, userId, facts), now)
    },
  }
}
