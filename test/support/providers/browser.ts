/** The browser between us and a provider: follows to the provider and returns the callback. */
import assert from 'node:assert/strict'

import type { Provider } from '../../../providers/core/provider.ts'
import type { Callback } from '../../../providers/core/types.ts'
import { client } from './fake-provider.ts'

export interface Visit {
  scopes?: string[]
  params?: Record<string, string>
  /** From our redirect URL to the URL it reaches. */
  rewriteUrl?: (url: string) => string
}

/** Visits the provider and returns the callback for `identity`. */
export async function visit(provider: Provider, options: Visit = {}): Promise<Callback> {
  const { scopes = [], params = {}, rewriteUrl = (url: string) => url } = options
  const now = new Date()
  const { url, secrets } = await provider.authorizationUrl({
    state: 'state-1',
    scopes,
    params,
    now,
  })
  const fields = await followAuthorization(rewriteUrl(url.href))
  assert.equal(fields.state, 'state-1')
  return { params: fields, secrets, now }
}

/** The parameters that the provider at this address returns: in the query of a redirect, or in a form to be posted. */
export async function followAuthorization(
  address: string,
  redirectUri = client.redirectUri,
): Promise<Record<string, string>> {
  const response = await fetch(address, { redirect: 'manual' })
  return response.status === 200
    ? readForm(response, redirectUri)
    : readQuery(response, redirectUri)
}

function readQuery(response: Response, redirectUri: string): Record<string, string> {
  const location = response.headers.get('location') ?? ''
  assert.ok(location.startsWith(`${redirectUri}?`), `${response.status} ${location}`)
  return Object.fromEntries(new URL(location).searchParams)
}

async function readForm(response: Response, redirectUri: string): Promise<Record<string, string>> {
  const page = await response.text()
  assert.ok(page.startsWith(`<form method="post" action="${redirectUri}">`), page)
  const inputs = page.matchAll(/name="(\w+)" value="([^"]*)"/g)
  return Object.fromEntries(
    [...inputs].map(([, name, value]) => [name, value?.replaceAll('&quot;', '"')]),
  )
}
