/** One expired row of each type that the cleanup removes. */
import type { Db } from '../../../db/core/database.ts'
import { nilUuid } from '../../../db/tables/users.ts'
import { oauthRows } from './cleanup-oauth-rows.ts'

export const minute = 60_000
const hour = 60 * minute
export const day = 24 * hour
export const now = new Date()
export const ago = (ms: number) => new Date(now.getTime() - ms)

type Insert = (db: Db, userId: string, at: Date) => Promise<unknown>

const id = () => crypto.randomUUID()

/** Sessions of these tests last 48 h, or 12 h without use; everything is kept for a day after its end. */
export const oldRows = {
  ended_sessions: [(db, user_id, at) => session(db, { user_id, not_after: at }), day],
  unused_sessions: [(db, user_id, created_at) => session(db, { user_id, created_at }), 36 * hour],
  idle_sessions: [(db, user_id, refreshed_at) => session(db, { user_id, refreshed_at }), 36 * hour],
  boxed_sessions: [
    (db, user_id, created_at) => {
      const refreshed_at = new Date(created_at.getTime() + 47 * hour)
      return session(db, { user_id, created_at, refreshed_at })
    },
    72 * hour,
  ],
  refresh_tokens: [
    async (db, user_id, updated_at) => {
      const session_id = await session(db, { user_id })
      const row = { user_id, session_id, revoked: true, created_at: ago(30 * day), updated_at }
      await db
        .insertInto('refresh_tokens')
        .values({ ...row, token: id() })
        .execute()
      // Rows that stay: the last consumed token and the current one.
      await db
        .insertInto('refresh_tokens')
        .values([
          { ...row, token: id(), updated_at: new Date(updated_at.getTime() + 1) },
          { ...row, token: id(), revoked: false },
        ])
        .execute()
    },
    day,
  ],
  one_time_tokens: [
    (db, _userId, expires_at) => oneTimeToken(db, { expires_at, created_at: ago(10 * day) }),
    day,
  ],
  passkey_challenges: [
    (db, user_id, expires_at) => {
      const row = { id: id(), user_id, challenge_type: 'registration' as const, session_data: '{}' }
      return db
        .insertInto('webauthn_challenges')
        .values({ ...row, created_at: ago(10 * day), expires_at })
        .execute()
    },
    day,
  ],
  replays: [
    (db, _userId, expires_at) =>
      db.insertInto('postern_replays').values({ key: id(), expires_at }).execute(),
    day,
  ],
  usernames: [
    (db, user_id, expires_at) =>
      db
        .insertInto('postern_usernames')
        .values({ username: id(), skeleton: id(), user_id, assigned_at: expires_at, expires_at })
        .execute(),
    day,
  ],
  usage_counts: [
    (db, _userId, hour) =>
      db
        .insertInto('postern_usage_counts')
        .values({ hour, kind: 'sign_in', name: id(), outcome: 'success', count: 1 })
        .execute(),
    32 * day,
  ],
  saml_relay_states: [
    async (db, _userId, created_at) => {
      const sso_provider_id = id()
      await db.insertInto('sso_providers').values({ id: sso_provider_id }).execute()
      const row = { id: id(), sso_provider_id, request_id: id() }
      await db
        .insertInto('saml_relay_states')
        .values({ ...row, created_at })
        .execute()
    },
    2 * day + 5 * minute,
  ],
  saml_logouts: [
    async (db, _userId, created_at) => {
      const sso_provider_id = id()
      await db.insertInto('sso_providers').values({ id: sso_provider_id }).execute()
      const row = { id: id(), sso_provider_id, request_id: id(), redirect_to: '', message: null }
      await db
        .insertInto('postern_saml_logouts')
        .values({ ...row, created_at })
        .execute()
    },
    2 * day + 5 * minute,
  ],
  flow_states: [
    (db, user_id, created_at) => {
      const row = { id: id(), user_id, provider_type: 'email', authentication_method: 'otp' }
      return db
        .insertInto('flow_state')
        .values({ ...row, created_at })
        .execute()
    },
    2 * day + 5 * minute,
  ],
  factor_challenges: [
    async (db, user_id, created_at) => {
      const factor_id = await factor(db, { user_id, created_at: now, status: 'verified' })
      const row = { id: id(), factor_id, ip_address: '192.0.2.7', otp_code: '' }
      await db
        .insertInto('mfa_challenges')
        .values({ ...row, created_at })
        .execute()
    },
    day + 5 * minute,
  ],
  abandoned_factors: [
    async (db, user_id, created_at) => {
      await factor(db, { user_id, created_at, status: 'verified' })
      await factor(db, { user_id, created_at, status: 'unverified' })
    },
    day + 5 * minute,
  ],
  pending_sign_ups: [
    async (db, _userId, created_at) => {
      const user_id = await anonymousUser(db, ago(hour))
      const verification = { phone_confirmed_at: created_at }
      await db.updateTable('users').set(verification).where('id', '=', user_id).execute()
      const row = { user_id, token_hash: id(), user_metadata: '{}', created_at }
      await db.insertInto('postern_pending_sign_ups').values(row).execute()
    },
    2 * day + 5 * minute,
  ],
  throttles: [
    (db, _userId, updated_at) =>
      db.insertInto('postern_throttles').values({ key: id(), failures: 1, updated_at }).execute(),
    2 * day,
  ],
  known_devices: [
    (db, user_id, last_used_at) =>
      db
        .insertInto('postern_known_devices')
        .values({ user_id, device_hash: id(), last_used_at })
        .execute(),
    180 * day,
  ],
  sign_in_devices: [
    (db, user_id, last_used_at) =>
      db
        .insertInto('postern_sign_in_devices')
        .values({ user_id, device: id(), last_used_at })
        .execute(),
    180 * day,
  ],
  send_intervals: [
    (db, _userId, sent_at) =>
      db.insertInto('postern_send_intervals').values({ key: id(), sent_at }).execute(),
    day + hour,
  ],
  consumed_codes: [
    async (db, userId, consumed_at) => {
      const session_id = await session(db, { user_id: userId })
      const challenge = { code_challenge: 'x', code_challenge_method: 's256' } as const
      const row = { code_hash: id(), session_id, ...challenge, consumed_at }
      await db.insertInto('postern_consumed_codes').values(row).execute()
    },
    2 * day + 5 * minute,
  ],
  send_quotas: [
    (db, _userId, refilled_at) =>
      db
        .insertInto('postern_send_quotas')
        .values({ channel: id(), tokens: 1, refilled_at })
        .execute(),
    2 * day,
  ],
  anonymous_users: [(db, _userId, created_at) => anonymousUser(db, created_at), 30 * day],
  audit_entries: [
    (db, _userId, created_at) => {
      const row = { id: id(), instance_id: nilUuid, payload: '{}', ip_address: '' }
      return db
        .insertInto('audit_log_entries')
        .values({ ...row, created_at })
        .execute()
    },
    100 * hour,
  ],
  ...oauthRows,
} satisfies Record<string, [Insert, keptFor: number]>

interface FactorState {
  user_id: string
  created_at: Date
  status: 'verified' | 'unverified'
}

async function factor(db: Db, state: FactorState): Promise<string> {
  const row = { id: id(), factor_type: 'totp', updated_at: now, ...state } as const
  await db.insertInto('mfa_factors').values(row).execute()
  return row.id
}

interface SessionTimes {
  user_id: string
  created_at?: Date
  refreshed_at?: Date
  not_after?: Date
}

async function session(db: Db, times: SessionTimes): Promise<string> {
  const row = { id: id(), created_at: ago(hour), ...times }
  await db.insertInto('sessions').values(row).execute()
  return row.id
}

async function anonymousUser(db: Db, created_at: Date): Promise<string> {
  const row = { id: id(), is_anonymous: true, created_at }
  await db.insertInto('users').values(row).execute()
  return row.id
}

/** Each belongs to a new user, because a user has one row of the type at most. */
async function oneTimeToken(
  db: Db,
  { created_at, expires_at }: { created_at: Date; expires_at: Date },
) {
  const user_id = await anonymousUser(db, ago(hour))
  const row = { id: id(), user_id, token_type: 'recovery_token' as const, created_at }
  await db
    .insertInto('one_time_tokens')
    .values({ ...row, token_hash: id(), relates_to: id(), updated_at: created_at })
    .execute()
  await db
    .insertInto('postern_one_time_tokens')
    .values({ token_id: row.id, expires_at, failed_attempts: 0 })
    .execute()
}
