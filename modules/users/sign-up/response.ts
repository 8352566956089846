/** The response of a sign-up that must be confirmed. */
import type { FastifyInstance } from 'fastify'

import type { UserRecord } from '../../../db/users/users.ts'
import type { LoginIdentifier } from './user-data.ts'

/** Columns that are empty after a new sign-up. */
const emptyColumns = {
  email: null,
  email_confirmed_at: null,
  invited_at: null,
  phone: null,
  phone_confirmed_at: null,
  confirmed_at: null,
  recovery_sent_at: null,
  email_change: '',
  email_change_sent_at: null,
  email_change_confirm_status: 0,
  phone_change: '',
  phone_change_sent_at: null,
  reauthentication_sent_at: null,
  last_sign_in_at: null,
  banned_until: null,
  is_sso_user: false,
  is_anonymous: false,
  factors: [],
}

/**
 * Returns the user as if created now: a repeated sign-up must not reveal when the first one was or what has happened
 * since, such as an invitation.
 */
export function toUnconfirmedUser(
  { config }: FastifyInstance,
  user: UserRecord,
  { provider, address }: LoginIdentifier,
  now: Date,
): UserRecord {
  const time = now.toISOString()
  const times = { last_sign_in_at: time, created_at: time, updated_at: time }
  return {
    ...user,
    ...emptyColumns,
    [provider]: address,
    role: config.AUTH_JWT_DEFAULT_GROUP_NAME,
    raw_app_meta_data: { provider, providers: [provider] },
    identities: user.identities
      .filter((identity) => identity.provider === provider)
      .map((identity) => ({ ...identity, ...times })),
    confirmation_sent_at: now,
    created_at: now,
    updated_at: now,
  }
}
