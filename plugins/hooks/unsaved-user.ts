import type { User } from '../../schemas/user.ts'

/** Whoever is no row yet, or no more. */
export interface UnsavedUser {
  id: string
  aud: string
  email?: string
  phone?: string
  app_metadata?: Record<string, unknown>
  user_metadata?: Record<string, unknown>
  is_anonymous?: boolean
}

/** What a moment that never was is called, as in GoTrue. */
const never = '0001-01-01T00:00:00Z'

/** A user as hooks are told of one who is not stored: no role, no identities, no times. */
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
    created_at: never,
    updated_at: never,
    is_anonymous: known.is_anonymous ?? false,
  }
}
