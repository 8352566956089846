/** The permissions of the signed-in admin. The API enforces them; the console hides what it would reject. */
import { effect, signal } from '@preact/signals'

import { ApiError, get } from './api.ts'
import { forget, isSignedIn, type Role } from './credentials.ts'
import { messageOf, sayFailed } from './toasts.ts'

export type Feature =
  | 'custom_providers'
  | 'events'
  | 'impersonation'
  | 'oauth_server'
  | 'organizations'
  | 'saml'

export interface Me extends Record<Feature, boolean> {
  role: Role
  user: { id: string; email: string | null } | null
  /** `GET /admin/users`, endpoint by endpoint. */
  allowed: string[]
  version: string
}

export const me = signal<Me | undefined>(undefined)

/** Whether the role may call the endpoint: `may('DELETE /admin/users/{user_id}')`. */
export function may(endpoint: string): boolean {
  return me.value?.allowed.includes(endpoint) ?? false
}

export function has(feature: Feature): boolean {
  return me.value?.[feature] ?? false
}

/** Reloads the permissions after each sign-in. */
export function followMe(): void {
  effect(() => {
    if (isSignedIn.value) load()
    else me.value = undefined
  })
}

async function load(): Promise<void> {
  try {
    me.value = await get<Me>('/admin/me')
  } catch (error) {
    if (error instanceof ApiError && error.status < 500) forget(reasonOf(error))
    else sayFailed(error)
  }
}

function reasonOf(error: ApiError): string {
  if (error.code === 'not_admin') return 'This key has no admin role. Use the service_role key.'
  return messageOf(error)
}
