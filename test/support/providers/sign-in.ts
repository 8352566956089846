/** One provider of ours in front of its fake, and what goes wrong between them. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'

import { ProviderError } from '../../../providers/provider.ts'
import { createProvider } from '../../../providers/registry.ts'
import { visit } from './browser.ts'
import { cases } from './documented.ts'
import { type Answer, startFakeProvider } from './fake-provider.ts'
import { fetch, settingsOf, upstreamOf } from './settings.ts'

export function json(body: unknown): Answer {
  return { body: JSON.stringify(body) }
}

export async function start(t: TestContext, name: string, timeoutMs?: number) {
  const documented = cases[name]?.documented
  assert.ok(documented)
  const fake = await startFakeProvider(t, documented)
  const upstream = upstreamOf(fetch, timeoutMs)
  const provider = createProvider(name, settingsOf({ url: fake.origin }), upstream)
  assert.ok(provider)
  const signIn = async () => provider.identity(await visit(provider))
  return { fake, provider, signIn }
}

/** The ProviderError it must reject with. */
export async function faultOf(promise: Promise<unknown>): Promise<ProviderError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof ProviderError, String(error))
  return error
}
