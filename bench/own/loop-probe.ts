import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'

/** Total delay of a server’s event loop, from `begin` to `end`, until `forget`. */
export interface LoopProbe {
  forget(): void
  begin(): void
  /** 99th percentile of the delay in milliseconds. */
  end(): Promise<number>
}

/** Of a child that has loop-reporter.ts loaded. */
export function createLoopProbe(child: ChildProcess): LoopProbe {
  return {
    forget: () => void child.send('forget'),
    begin: () => void child.send('begin'),
    async end() {
      const response = once(child, 'message')
      child.send('end')
      const [{ loopDelayMs }] = await response
      return loopDelayMs
    },
  }
}
