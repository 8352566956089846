/** Removal of events that have been kept long enough, and of what is known of their deliveries. */
import { deleteOldEvents, deleteUnplacedEvents } from '../../db/events.ts'
import { deleteOrphanDeliveries } from '../../db/webhook-history.ts'
import type { House } from '../define-plugin.ts'

/** Every hour, on one replica. Also where events are off by now: what was kept goes in its time. */
export function scheduleCleanUp(house: House<'config' | 'db' | 'jobQueue'>): void {
  house.jobQueue.addTask('remove_old_events', () => removeOld(house, new Date()), {
    cron: '47 * * * *',
  })
}

export async function removeOld({ config, db }: House<'config' | 'db'>, now: Date): Promise<void> {
  const limit = config.AUTH_DB_CLEANUP_BATCH_SIZE
  const before = new Date(now.getTime() - config.AUTH_EVENTS_RETENTION * 1000)
  while ((await deleteOldEvents(db, before, limit)) === limit);
  while ((await deleteUnplacedEvents(db, before, limit)) === limit);
  while ((await deleteOrphanDeliveries(db, limit)) === limit);
}
