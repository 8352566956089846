/**
 * Writing events down: in the transaction of what they tell, and in the very statement where that is a hot one
 * (docs/webhooks.md). Switched off, nothing is made and nothing asked of the database.
 */
import type { Db } from '../../db/database.ts'
import { insertEvents, type NewEvent } from '../../db/event-inbox.ts'
import { type EventType, eventKinds, type FactsOf } from '../../schemas/events.ts'
import type { Config } from '../config/config.ts'

type EventSettings = Pick<Config, 'AUTH_EVENTS_ENABLED' | 'AUTH_WEBHOOK_ENDPOINTS'>

export function createRecorder(config: EventSettings) {
  /** Whether anybody may be told anything. */
  const enabled = config.AUTH_EVENTS_ENABLED || config.AUTH_WEBHOOK_ENDPOINTS.length > 0

  /** An event for a statement that writes it; none when events are off. */
  function draft<T extends EventType>(
    type: T,
    userId: string | null,
    facts: FactsOf<T>,
  ): NewEvent[] {
    if (!enabled) return []
    const data = { user_id: userId, ...facts }
    const { withUser } = eventKinds[type]
    return [{ id: crypto.randomUUID(), type, user_id: userId, data, with_user: withUser }]
  }

  return {
    enabled,
    draft,

    /** Writes drafts down; asks nothing of the database when there are none. */
    async write(db: Db, drafts: readonly NewEvent[], now: Date): Promise<void> {
      if (drafts.length > 0) await insertEvents(db, drafts, now)
    },

    /** Writes one event down, in the transaction that `db` is in. */
    async record<T extends EventType>(
      db: Db,
      type: T,
      userId: string | null,
      facts: FactsOf<T>,
      now: Date,
    ): Promise<void> {
      if (enabled) await insertEvents(db, draft(type, userId, facts), now)
    },
  }
}
