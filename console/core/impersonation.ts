/** The admin's impersonation session. Its tokens are kept in memory only. */
import { signal } from '@preact/signals'

import { base } from './base.ts'

interface ConsoleImpersonation {
  name: string
  userId: string
  accessToken: string
  refreshToken: string
  expiresAt: number
}

export const currentImpersonation = signal<ConsoleImpersonation | undefined>(undefined)

/** Revokes the session on the server. */
export async function endImpersonation(): Promise<void> {
  const { accessToken } = currentImpersonation.value ?? {}
  const headers = { authorization: `Bearer ${accessToken}` }
  await fetch(`${base}/logout?scope=local`, { method: 'POST', headers, credentials: 'omit' })
  currentImpersonation.value = undefined
}
