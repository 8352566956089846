import { setTimeout as pause } from 'node:timers/promises'

import { ProviderError } from '../../../providers/core/provider-error.ts'

/** Resolves with `work`; throws ProviderError discovery when it takes longer. */
export async function withTimeout<T>(work: Promise<T>, milliseconds: number): Promise<T> {
  const done = new AbortController()
  const timeout = pause(milliseconds, undefined, { signal: done.signal }).then(() => {
    throw new ProviderError('discovery', `no answer within ${milliseconds} ms`, { isDown: true })
  })
  try {
    return await Promise.race([work, timeout])
  } finally {
    done.abort()
  }
}
