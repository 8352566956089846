import type { FastifyBaseLogger } from 'fastify'
import { Logger } from 'graphile-worker'

export type QueueLog = Pick<FastifyBaseLogger, 'debug' | 'warn' | 'error'>

/** graphile-worker logs every transient database failure as an error and every job as info; both are lowered. */
export function toLogger(log: QueueLog): Logger {
  return new Logger(() => (level, message) => {
    if (level === 'error' || level === 'warning') log.warn(`job queue: ${message}`)
    else log.debug(`job queue: ${message}`)
  })
}
