import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'

/** How long the event loop of a server was held up, from `begin` to `end`, added up until `forget`. */
export interface LoopProbe {
  forget(): void
  begin(): void
  /** Milliseconds: 99 of 100 looks were late by no more. */
  end(): Promise<number>
}

/** Of a child that has loop-reporter.ts loaded. */
export function probeOf(child: ChildProcess): LoopProbe {
  return {
    forget: () => void child.send('forget'),
    begin: () => void child.send('begin'),
    async end() {
      const answer = once(child, 'message')
      child.send('end')
      const [{ loopDelayMs }] = await answer
      return loopDelayMs
    },
  }
}
