/** What keeps the queue honest: recovery after crashes every minute, removal of old rows every hour. */
import type { FastifyBaseLogger } from 'fastify'

import type { Db } from '../../db/database.ts'
import { buryAbandonedMail, deleteOldMail, restoreMailJobs } from '../../db/mail-housekeeping.ts'
import type { MailJobs } from './job.ts'
import { crashed } from './reasons.ts'

export interface HousekeepingDeps {
  db: Db
  jobs: MailJobs
  log: Pick<FastifyBaseLogger, 'warn'>
  /** Most rows removed by one statement. */
  batchSize: number
}

const minute = 60_000
const day = 24 * 60 * minute
/** More than one attempt can take: a minute for the mail server, and the patience of insist.ts. */
const abandonedAfterMs = 10 * minute
/** A little more than the longest pause between attempts. */
const overdueAfterMs = 20 * minute
const keepSentMs = 7 * day
const keepDeadMs = 30 * day

export function createHousekeeping({ db, jobs, log, batchSize }: HousekeepingDeps) {
  return {
    async recover(now: Date): Promise<void> {
      const ago = (ms: number) => new Date(now.getTime() - ms)
      const abandoned = await buryAbandonedMail(db, ago(abandonedAfterMs), crashed, now)
      for (const { id, kind } of abandoned) {
        log.warn({ messageId: id, kind, reason: crashed }, 'a mail is a dead letter')
      }
      await restoreMailJobs(
        db,
        { newBefore: ago(minute), waitingBefore: ago(overdueAfterMs), limit: 1000 },
        (id) => jobs(id, { keepRunAt: true }),
      )
    },

    async removeOld(now: Date): Promise<void> {
      const sent = new Date(now.getTime() - keepSentMs)
      const dead = new Date(now.getTime() - keepDeadMs)
      let removed: number
      do removed = await deleteOldMail(db, { sent, dead }, batchSize)
      while (removed === batchSize)
    },
  }
}
