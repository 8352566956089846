/** Requests whose result a sign-in does not require. */
import { setTimeout as pause } from 'node:timers/promises'

import { ProviderError } from '../core/provider-error.ts'

const maxWaitMs = 2_000

/** Returns undefined when the provider rejects it. Throws ProviderError when the provider is unavailable. */
export async function undefinedIfRejected(work: Promise<unknown>): Promise<unknown> {
  try {
    return await work
  } catch (error) {
    if (error instanceof ProviderError && !error.isDown) return undefined
    throw error
  }
}

/** Returns undefined on an error, or after 2 s. */
export async function orUndefined(work: Promise<unknown>): Promise<unknown> {
  try {
    return await Promise.race([work, pause(maxWaitMs, undefined, { ref: false })])
  } catch (error) {
    if (error instanceof ProviderError) return undefined
    throw error
  }
}
