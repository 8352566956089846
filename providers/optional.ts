/** Requests for what a sign-in can do without. */
import { setTimeout as pause } from 'node:timers/promises'

import { ProviderError } from './provider.ts'

const patienceMs = 2_000

/** Undefined when the provider refuses it. Throws ProviderError when the provider is down: it may be allowed. */
export async function unlessRefused(work: Promise<unknown>): Promise<unknown> {
  try {
    return await work
  } catch (error) {
    if (error instanceof ProviderError && !error.isDown) return undefined
    throw error
  }
}

/** Undefined when it cannot be had, or takes longer than 2 s. */
export async function atBest(work: Promise<unknown>): Promise<unknown> {
  try {
    return await Promise.race([work, pause(patienceMs, undefined, { ref: false })])
  } catch (error) {
    if (error instanceof ProviderError) return undefined
    throw error
  }
}
