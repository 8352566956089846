/** Rows of the OAuth server and of its pages, for the tests of the cleanup. */
import { randomInt } from 'node:crypto'

import type { Db } from '../../../db/core/database.ts'

type Insert = (db: Db, userId: string, at: Date) => Promise<unknown>

const day = 86_400_000
const id = () => crypto.randomUUID()
const old = new Date(Date.now() - 30 * day)

/** Everything is kept a day after its end; clients that registered themselves 90 days unused, 14 without a consent. */
export const oauthRows: Record<OauthStep, [Insert, keptFor: number]> = {
  oauth_authorizations: [
    async (db, _userId, expires_at) => {
      const client_id = await client(db, { registration_type: 'manual', created_at: old })
      const row = { id: id(), authorization_id: id(), client_id, scope: 'openid' }
      return db
        .insertInto('oauth_authorizations')
        .values({ ...row, redirect_uri: 'https://app.example/', created_at: old, expires_at })
        .execute()
    },
    day,
  ],
  oauth_pushed_requests: [
    async (db, _userId, expires_at) => {
      const client_id = await client(db, { registration_type: 'manual', created_at: old })
      return db
        .insertInto('postern_oauth_pushed_requests')
        .values({ id: id(), client_id, parameters: '{}', created_at: old, expires_at })
        .execute()
    },
    day,
  ],
  oauth_device_codes: [
    async (db, _userId, expires_at) => {
      const client_id = await client(db, { registration_type: 'manual', created_at: old })
      const row = { id: id(), user_code: id(), client_id, scope: 'openid', resources: [] }
      return db
        .insertInto('postern_oauth_device_codes')
        .values({ ...row, interval_seconds: 5, created_at: old, expires_at })
        .execute()
    },
    day,
  ],
  page_sessions: [
    async (db, user_id, expires_at) => {
      const session_id = id()
      await db.insertInto('sessions').values({ id: session_id, user_id, created_at: now }).execute()
      const row = { id: id(), session_id, created_at: old, last_used_at: old }
      return db
        .insertInto('postern_page_sessions')
        .values({ ...row, expires_at })
        .execute()
    },
    day,
  ],
  page_submissions: [
    (db, _userId, expires_at) =>
      db
        .insertInto('postern_page_submissions')
        .values({ slot: randomInt(2 ** 14), id: id(), answer: null, expires_at })
        .execute(),
    0,
  ],
  unused_oauth_clients: [
    async (db, user_id, at) => {
      const unused = await client(db, { registration_type: 'dynamic', created_at: at })
      await consent(db, unused, user_id)
      // Those that stay: one of the operator, one that was used since, one with a session.
      const created_at = new Date(at.getTime() - 30 * day)
      await client(db, { registration_type: 'manual', created_at })
      const used = await client(db, { registration_type: 'dynamic', created_at })
      await db
        .insertInto('postern_oauth_clients')
        .values({ client_id: used, settings: '{}', last_used_at: now })
        .execute()
      const signedIn = await client(db, { registration_type: 'dynamic', created_at })
      await db
        .insertInto('sessions')
        .values({ id: id(), user_id, created_at: now, oauth_client_id: signedIn })
        .execute()
    },
    90 * day,
  ],
  ungranted_oauth_clients: [
    async (db, user_id, created_at) => {
      await client(db, { registration_type: 'dynamic', created_at })
      // Those that stay: one of the operator, one with a consent, one that was registered again.
      const before = new Date(created_at.getTime() - 30 * day)
      await client(db, { registration_type: 'manual', created_at: before })
      const granted = await client(db, { registration_type: 'dynamic', created_at })
      await consent(db, granted, user_id)
      const again = await client(db, { registration_type: 'dynamic', created_at: before })
      await db
        .insertInto('postern_oauth_clients')
        .values({ client_id: again, settings: '{}', last_used_at: now })
        .execute()
    },
    14 * day,
  ],
}

type OauthStep =
  | 'oauth_authorizations'
  | 'oauth_pushed_requests'
  | 'oauth_device_codes'
  | 'page_sessions'
  | 'page_submissions'
  | 'unused_oauth_clients'
  | 'ungranted_oauth_clients'

const now = new Date()

async function client(
  db: Db,
  made: { registration_type: 'manual' | 'dynamic'; created_at: Date },
): Promise<string> {
  const row = { id: id(), redirect_uris: 'https://app.example/', grant_types: 'authorization_code' }
  await db
    .insertInto('oauth_clients')
    .values({
      ...row,
      ...made,
      client_type: 'public',
      token_endpoint_auth_method: 'none',
      updated_at: made.created_at,
    })
    .execute()
  return row.id
}

async function consent(db: Db, client_id: string, user_id: string): Promise<void> {
  await db
    .insertInto('oauth_consents')
    .values({ id: id(), user_id, client_id, scopes: 'openid', granted_at: old })
    .execute()
}
