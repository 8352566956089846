/** Recovery of the outbox after crashes every minute, removal of its old rows every hour. */
import type { Db } from '../../../db/database.ts'
import { deleteOldMail, markAbandonedMailDead, restoreMailJobs } from '../../../db/mail-clean-up.ts'
import type { House } from '../../define-plugin.ts'
import type { MailJobs } from './job.ts'
import { crashed } from './reasons.ts'

const minute = 60_000
const day = 24 * 60 * minute
/** More than one attempt can take: a minute for the mail server, and as long as retry-write.ts goes on. */
const abandonedAfterMs = 10 * minute
/** A little more than the longest pause between attempts. */
const overdueAfterMs = 20 * minute
const keepSentMs = 7 * day
const keepDeadMs = 30 * day

export function scheduleCleanup(
  house: House<'config' | 'db' | 'events' | 'jobQueue' | 'log'>,
  jobs: MailJobs,
): void {
  const { config, db, jobQueue } = house
  const batchSize = config.AUTH_DB_CLEANUP_BATCH_SIZE
  jobQueue.addTask('recover_mail', () => recover(house, jobs, new Date()), { cron: '* * * * *' })
  jobQueue.addTask('remove_old_mail', () => removeOld(db, batchSize, new Date()), {
    cron: '23 * * * *',
  })
}

async function recover(
  { db, events, log }: House<'db' | 'events' | 'log'>,
  jobs: MailJobs,
  now: Date,
): Promise<void> {
  const ago = (ms: number) => new Date(now.getTime() - ms)
  const abandoned = await markAbandonedMailDead(
    db,
    ago(abandonedAfterMs),
    { reason: crashed, isTold: events.enabled },
    now,
  )
  for (const { id, kind } of abandoned) {
    log.warn({ messageId: id, kind, reason: crashed }, 'a mail is a dead letter')
  }
  await restoreMailJobs(
    db,
    { newBefore: ago(minute), waitingBefore: ago(overdueAfterMs), limit: 1000 },
    (id) => jobs(id, { keepRunAt: true }),
  )
}

/** `batchSize` is the most rows removed by one statement. */
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
