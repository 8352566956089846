/** What a client is shown of an account that its sign-up has to confirm. */
import type { UserRecord } from '../../../db/users.ts'
import type { House } from '../../define-plugin.ts'
import type { Contact } from './sign-up-data.ts'

/** Columns that a sign-up just made leaves empty. */
const blank = {
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
 * As if it had been made now: whoever repeats somebody's sign-up learns neither when the first one was nor what has
 * become of the account since, an invitation for example.
 */
export function asNew(
  { config }: House<'config'>,
  user: UserRecord,
  { provider, address }: Contact,
  now: Date,
): UserRecord {
  const time = now.toISOString()
  const times = { last_sign_in_at: time, created_at: time, updated_at: time }
  return {
    ...user,
    ...blank,
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
