import type { FastifyBaseLogger } from 'fastify'
import { Logger } from 'graphile-worker'

export type QueueLog = Pick<FastifyBaseLogger, 'debug' | 'warn' | 'error'>

/** The queue reports every hiccup of the database as an error and every job as news. */
export function toLogger(log: QueueLog): Logger {
  return new Logger(() => (level, message) => {
    if (level === 'error' || level === 'warning') log.warn(`job queue: ${message}`)
    else log.debug(`job queue: ${message}`)
  })
}
