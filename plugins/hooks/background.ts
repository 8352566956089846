import type { FastifyBaseLogger } from 'fastify'

/** Work of hooks that no answer waits for. */
export function createBackground(log: Pick<FastifyBaseLogger, 'warn'>) {
  const running = new Set<Promise<void>>()

  return {
    /** Begins it; a failure is logged. */
    run(work: () => Promise<unknown>): void {
      const done = work().then(
        () => undefined,
        (error) => log.warn({ err: error }, 'a hook could not be asked'),
      )
      const ended = done.finally(() => running.delete(ended))
      running.add(ended)
    },

    /** Resolves when nothing is running any more. */
    async settled(): Promise<void> {
      while (running.size > 0) await Promise.all(running)
    },
  }
}
