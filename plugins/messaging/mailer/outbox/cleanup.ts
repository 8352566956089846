/** Recovers emails after crashes every minute, and deletes old rows every hour. */
import {
  deleteOldMail,
  markAbandonedMailDead,
  restoreMailJobs,
} from '../../../../db/cleanup/emails.ts'
import type { Db } from '../../../../db/core/database.ts'
import type { Deps } from '../../../define-plugin.ts'
import type { MailJobs } from './payload.ts'
import { crashed } from './reasons.ts'

const minute = 60_000
const day = 24 * 60 * minute
/** Longer than any attempt: a minute for the mail server, and the retries of send.ts. */
const abandonedAfterMs = 10 * minute
/** Slightly longer than the longest delay between attempts. */
const overdueAfterMs = 20 * minute
const keepSentMs = 7 * day
const keepDeadMs = 30 * day

export function scheduleEmailCleanup(
  deps: Deps<'config' | 'db' | 'events' | 'jobQueue' | 'log'>,
  jobs: MailJobs,
): void {
  const { config, db, jobQueue } = deps
  const batchSize = config.AUTH_DB_CLEANUP_BATCH_SIZE
  jobQueue.addTask('recover_mail', () => recover(deps, jobs, new Date()), { cron: '* * * * *' })
  jobQueue.addTask('remove_old_mail', () => removeOld(db, batchSize, new Date()), {
    cron: '23 * * * *',
  })
}

async function recover(
  { db, events, log }: Deps<'db' | 'events' | 'log'>,
  jobs: MailJobs,
  now: Date,
): Promise<void> {
  const ago = (ms: number) => new Date(now.getTime() - ms)
  const abandoned = await markAbandonedMailDead(
    db,
    ago(abandonedAfterMs),
    { reason: crashed, emitEvent: events.enabled },
    now,
  )
  for (const { id, kind } of abandoned) {
    log.warn({ message_id: id, kind, reason: crashed }, 'email moved to dead letters')
  }
  await restoreMailJobs(
    db,
    { newBefore: ago(minute), waitingBefore: ago(overdueAfterMs), limit: 1000 },
    (id) => jobs(id, { keepRunAt: true }),
  )
}

/** `batchSize` limits the rows deleted by one statement. */
async function removeOld(db: Db, batchSize: number, now: Date): Promise<void> {
  for (const [state, keepMs] of [
    ['sent', keepSentMs],
    ['dead', keepDeadMs],
  ] as const) {
    const before = new Date(now.getTime() - keepMs)
    let removed: number
    do removed = await deleteOldMail(db, state, before, batchSize)
    while (removed === batchSize)
  }
}
