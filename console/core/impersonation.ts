/** The admin's impersonation session. Its tokens are kept in memory only. */
import { signal } from '@preact/signals'

import { base } from './base.ts'

export interface Impersonation {
  name: string
  userId: string
  accessToken: string
  refreshToken: string
  expiresAt: number
}

export const impersonation = signal<Impersonation | undefined>(undefined)

/** Revokes the session on the server. */
export async function endImpersonation(): Promise<void> {
  const { accessToken } = impersonation.value ?? {}
  const headers = { authorization: `Bearer ${accessToken}` }
  await fetch(`${base}/logout?scope=local`, { method: 'POST', headers, credentials: 'omit' })
  impersonation.value = undefined
}
