import type { FastifyBaseLogger } from 'fastify'

import { untilSignal } from '../until-signal.ts'

/**
 * The signal to stop. Before the start is over it ends the process, as nobody is served yet: the first process of a
 * container is not ended by a signal that it does not hear.
 */
export function untilStop(log: Pick<FastifyBaseLogger, 'info'>) {
  let isStarting = true
  const signal = untilSignal(['SIGINT', 'SIGTERM'])
  void signal.then((name) => {
    if (!isStarting) return
    log.info(`${name}: the start ends here`)
    process.exit(0)
  })
  return {
    signal,
    started(): void {
      isStarting = false
    },
  }
}
