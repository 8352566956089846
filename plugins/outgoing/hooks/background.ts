import type { FastifyBaseLogger } from 'fastify'

/** Hook work that no response waits for. */
export function createBackground(log: Pick<FastifyBaseLogger, 'warn'>) {
  const running = new Set<Promise<void>>()

  return {
    /** Starts the work; a failure is logged. */
    run(work: () => Promise<unknown>): void {
      const done = work().then(
        () => undefined,
        (error) => log.warn({ err: error }, 'hook call failed'),
      )
      const ended = done.finally(() => running.delete(ended))
      running.add(ended)
    },

    /** Resolves when all started work has ended. */
    async settled(): Promise<void> {
      while (running.size > 0) await Promise.all(running)
    },
  }
}
