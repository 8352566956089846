/**
 * Authentication: by the cookie of the sign-in pages, for which the server issues short-lived tokens, or by a pasted
 * service key. Tokens and keys are kept in this module only and lost when the page closes.
 */
import { computed, signal } from '@preact/signals'

import { base } from './base.ts'

interface Account {
  id: string
  email: string | null
  phone: string | null
}

export type ConsoleRole = 'owner' | 'operator' | 'support'

/** GET /console/session. */
export interface ConsoleSession {
  form_token: string
  user: Account | null
  role: ConsoleRole | null
  required_factor: 'verification' | 'enrollment' | null
  has_admins: boolean
  sign_in_url: string
  factor_url: string
  account_url: string | null
}

type Credential =
  | { kind: 'unknown' }
  | { kind: 'none'; reason?: string }
  | { kind: 'key' }
  | { kind: 'session'; user: Account }

export const credential = signal<Credential>({ kind: 'unknown' })
export const pageSession = signal<ConsoleSession | undefined>(undefined)
export const isSignedIn = computed(() => ['key', 'session'].includes(credential.value.kind))

let token = ''
let expiresAt = 0
let asking: Promise<void> | undefined

/** Looks for a session of the sign-in pages. */
export async function start(): Promise<void> {
  const response = await send('GET')
  const isJson = response?.headers.get('content-type')?.startsWith('application/json')
  if (!response?.ok || !isJson) return forget()
  const found: ConsoleSession = await response.json()
  pageSession.value = found
  if (found.user && found.role && !found.required_factor) await requestToken()
  else forget()
}

/** The key is kept in memory until the page is closed or reloaded. */
export function signInWithKey(key: string): void {
  token = key
  credential.value = { kind: 'key' }
}

/** A token that is valid for some time; empty when signed out. */
export async function freshToken(): Promise<string> {
  if (credential.value.kind === 'session' && Date.now() > expiresAt - 60_000) await requestToken()
  return token
}

/** Called when the API rejected the token: a session gets a new one, a key is dropped. */
export async function rejectToken(): Promise<void> {
  if (credential.value.kind === 'session') return requestToken()
  forget('The key was not accepted. It may have expired, or belong to another server.')
}

/** Also revokes the session on the server. */
export async function signOut(): Promise<void> {
  if (pageSession.value?.user) await send('DELETE')
  pageSession.value = undefined
  forget('You are signed out.')
  await start()
}

export function forget(reason?: string): void {
  token = ''
  credential.value = reason ? { kind: 'none', reason } : { kind: 'none' }
}

/** Concurrent requests share one token request. */
function requestToken(): Promise<void> {
  asking ??= storeToken().finally(() => {
    asking = undefined
  })
  return asking
}

async function storeToken(): Promise<void> {
  const response = await send('POST')
  if (!response?.ok) return forget('Your session has ended. Sign in again.')
  const body: { access_token: string; expires_at: number; user: Account } = await response.json()
  token = body.access_token
  expiresAt = body.expires_at * 1000
  credential.value = { kind: 'session', user: body.user }
}

async function send(method: 'GET' | 'POST' | 'DELETE'): Promise<Response | undefined> {
  const headers = {
    accept: 'application/json',
    'x-form-token': pageSession.value?.form_token ?? '',
  }
  try {
    return await fetch(`${base}/console/session`, { method, headers, credentials: 'same-origin' })
  } catch {
    return undefined
  }
}
