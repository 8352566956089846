/**
 * Records events in the transaction of the change they report, and on hot paths in the same statement
 * (docs/webhooks.md). When events are disabled, nothing is built or written.
 */
import type { Config } from '../../../config/groups/index.ts'
import type { Db } from '../../../db/core/database.ts'
import { insertEvents, type NewEvent } from '../../../db/events/outbox.ts'
import { type EventPayload, type EventType, eventKinds } from '../../../schemas/events.ts'
import type { Acting } from '../../../schemas/values/acting.ts'

type EventSettings = Pick<Config, 'AUTH_EVENTS_ENABLED' | 'AUTH_WEBHOOK_ENDPOINTS'>

/** `describeActor` returns who acts, for a user whom the event concerns. */
export function createRecorder(
  config: EventSettings,
  describeActor: (userId: string | null) => Acting,
) {
  /** Whether anything can receive events. */
  const enabled = config.AUTH_EVENTS_ENABLED || config.AUTH_WEBHOOK_ENDPOINTS.length > 0

  /**
   * Builds an event for the statement that inserts it; none when events are disabled. Its actor is that of the request,
   * unless `acting` is given.
   */
  function draft<T extends EventType>(
    type: T,
    userId: string | null,
    facts: EventPayload<T>,
    acting?: Acting,
  ): NewEvent[] {
    if (!enabled) return []
    const data = { user_id: userId, ...facts, ...(acting ?? describeActor(userId)) }
    const { withUser } = eventKinds[type]
    return [{ id: crypto.randomUUID(), type, user_id: userId, data, with_user: withUser }]
  }

  return {
    enabled,
    draft,
    describeActor,

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
