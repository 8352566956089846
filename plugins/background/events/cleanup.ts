/** Deletes old events with the status of their deliveries. */
import { deleteOldEvents, deleteUnpositionedEvents } from '../../../db/events/events.ts'
import { deleteOrphanDeliveries } from '../../../db/events/history.ts'
import type { Deps } from '../../define-plugin.ts'

/** Runs every hour, on one replica. Also when events have been disabled: stored ones still expire. */
export function scheduleEventCleanup(deps: Deps<'config' | 'db' | 'jobQueue'>): void {
  deps.jobQueue.addTask('remove_old_events', () => removeOld(deps, new Date()), {
    cron: '47 * * * *',
  })
}

export async function removeOld({ config, db }: Deps<'config' | 'db'>, now: Date): Promise<void> {
  const limit = config.AUTH_DB_CLEANUP_BATCH_SIZE
  const before = new Date(now.getTime() - config.AUTH_EVENTS_RETENTION * 1000)
  while ((await deleteOldEvents(db, before, limit)) === limit);
  while ((await deleteUnpositionedEvents(db, before, limit)) === limit);
  while ((await deleteOrphanDeliveries(db, limit)) === limit);
}
