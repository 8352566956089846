/** The browser between us and a provider: follows to the provider, brings the callback back. */
import assert from 'node:assert/strict'

import type { Callback, Provider } from '../../../providers/provider.ts'
import { client } from './fake-provider.ts'

export interface Visit {
  scopes?: string[]
  params?: Record<string, string>
  /** From the address we send the browser to, to the one it finds. */
  addressOf?: (url: string) => string
}

/** Goes to the provider and returns the callback that `identity` takes. */
export async function visit(provider: Provider, options: Visit = {}): Promise<Callback> {
  const { scopes = [], params = {}, addressOf = (url: string) => url } = options
  const now = new Date()
  const { url, secrets } = await provider.authorizationUrl({
    state: 'state-1',
    scopes,
    params,
    now,
  })
  const fields = await goThere(addressOf(url.href))
  assert.equal(fields.state, 'state-1')
  return { params: fields, secrets, now }
}

/** What the provider at this address sends back: in the query of a redirect, or in a form to be posted. */
export async function goThere(address: string): Promise<Record<string, string>> {
  const response = await fetch(address, { redirect: 'manual' })
  return response.status === 200 ? formOf(response) : queryOf(response)
}

function queryOf(response: Response): Record<string, string> {
  const location = response.headers.get('location') ?? ''
  assert.ok(location.startsWith(`${client.redirectUri}?`), `${response.status} ${location}`)
  return Object.fromEntries(new URL(location).searchParams)
}

async function formOf(response: Response): Promise<Record<string, string>> {
  const page = await response.text()
  assert.ok(page.startsWith(`<form method="post" action="${client.redirectUri}">`), page)
  const inputs = page.matchAll(/name="(\w+)" value="([^"]*)"/g)
  return Object.fromEntries(
    [...inputs].map(([, name, value]) => [name, value?.replaceAll('&quot;', '"')]),
  )
}
