/** One provider with its fake, and its failures. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'

import { ProviderError } from '../../../providers/core/provider-error.ts'
import { createOauthProvider } from '../../../providers/registry.ts'
import { visit } from './browser.ts'
import { cases } from './documented.ts'
import { type Response, startFakeProvider } from './fake-provider.ts'
import { createUpstream, fakeProviderSettings, fetch } from './settings.ts'

export function json(body: unknown): Response {
  return { body: JSON.stringify(body) }
}

export async function start(t: TestContext, name: string, timeoutMs?: number) {
  const documented = cases[name]?.documented
  assert.ok(documented)
  const fake = await startFakeProvider(t, documented)
  const upstream = createUpstream(fetch, timeoutMs)
  const provider = createOauthProvider(name, fakeProviderSettings({ url: fake.origin }), upstream)
  assert.ok(provider)
  const signIn = async () => provider.identity(await visit(provider))
  return { fake, provider, signIn }
}

/** The ProviderError it must reject with. */
export async function providerError(promise: Promise<unknown>): Promise<ProviderError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof ProviderError, String(error))
  return error
}
