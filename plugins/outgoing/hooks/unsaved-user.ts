import type { User } from '../../../schemas/user.ts'

/** A user without a row: not created yet, or deleted. */
export interface UnsavedUser {
  id: string
  aud: string
  email?: string
  phone?: string
  app_metadata?: Record<string, unknown>
  user_metadata?: Record<string, unknown>
  is_anonymous?: boolean
}

/** The zero time that GoTrue sends. */
const zeroTime = '0001-01-01T00:00:00Z'

/** The hook payload of a user without a row: no role, identities or times. */
export function unsavedUser({ id, aud, ...known }: UnsavedUser): User {
  return {
    id,
    aud,
    role: '',
    email: known.email ?? '',
    phone: known.phone ?? '',
    app_metadata: known.app_metadata ?? {},
    user_metadata: known.user_metadata ?? {},
    identities: [],
    created_at: zeroTime,
    updated_at: zeroTime,
    is_anonymous: known.is_anonymous ?? false,
  }
}
