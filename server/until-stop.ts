import type { FastifyBaseLogger } from 'fastify'

import { untilSignal } from './until-signal.ts'

/**
 * Waits for the signal to stop. During the start it ends the process, as no request is served yet: PID 1 of a container
 * ignores signals without a handler.
 */
export function untilStop(log: Pick<FastifyBaseLogger, 'info'>) {
  let isStarting = true
  const signal = untilSignal(['SIGINT', 'SIGTERM'])
  void signal.then((name) => {
    if (!isStarting) return
    log.info(`${name}: startup aborted`)
    process.exit(0)
  })
  return {
    signal,
    started(): void {
      isStarting = false
    },
  }
}
