import { setTimeout as pause } from 'node:timers/promises'

import { ProviderError } from '../../providers/provider.ts'

/** The outcome of `work`, unless it takes longer; throws ProviderError discovery then. */
export async function inTime<T>(work: Promise<T>, milliseconds: number): Promise<T> {
  const done = new AbortController()
  const late = pause(milliseconds, undefined, { signal: done.signal }).then(() => {
    throw new ProviderError('discovery', `no answer within ${milliseconds} ms`, { isDown: true })
  })
  try {
    return await Promise.race([work, late])
  } finally {
    done.abort()
  }
}
