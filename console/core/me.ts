/** The permissions of the signed-in admin. The API enforces them; the console hides what it would reject. */
import { effect, signal } from '@preact/signals'

import { getBody, RequestError } from './api.ts'
import { type ConsoleRole, forget, isSignedIn } from './credentials.ts'
import { errorMessage, showError } from './toasts.ts'

export type ConsoleFeature =
  | 'custom_providers'
  | 'events'
  | 'impersonation'
  | 'oauth_server'
  | 'organizations'
  | 'saml'

interface Me extends Record<ConsoleFeature, boolean> {
  role: ConsoleRole
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

export function has(feature: ConsoleFeature): boolean {
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
    me.value = await getBody('/admin/me')
  } catch (error) {
    if (error instanceof RequestError && error.status < 500) forget(describeRejection(error))
    else showError(error)
  }
}

function describeRejection(error: RequestError): string {
  if (error.code === 'not_admin') return 'This key has no admin role. Use the service_role key.'
  return errorMessage(error)
}
