/** Users and sessions inserted by SQL, enough to measure scaling. */
import { hash } from '@node-rs/argon2'
import type { Client } from 'pg'

import { password } from './core/users.ts'

/** Adds users with the common password and a session each. `from` makes their emails unique. */
export async function insertUsers(client: Client, from: number, count: number): Promise<void> {
  // The server's own setting, so that a sign-in does not replace it.
  const stored = await hash(password, { memoryCost: 19_456, timeCost: 2, parallelism: 1 })
  await client.query(
    `with created as (
        insert into auth.users (instance_id, id, aud, role, email, encrypted_password,
            email_confirmed_at, raw_app_meta_data, raw_user_meta_data, created_at, updated_at)
          select '00000000-0000-0000-0000-000000000000', gen_random_uuid(), 'authenticated',
            'authenticated', format('stored-%s@example.com', i), $3, now(),
            '{"provider": "email", "providers": ["email"]}', '{}', now(), now()
          from generate_series($1::int, $1::int + $2::int - 1) i
          returning id, email),
      identities as (
        insert into auth.identities (id, provider_id, user_id, provider, identity_data, created_at)
          select gen_random_uuid(), id::text, id, 'email',
            jsonb_build_object('sub', id, 'email', email), now()
          from created),
      opened as (
        insert into auth.sessions (id, user_id, created_at, updated_at, aal, refresh_token_counter)
          select gen_random_uuid(), id, now(), now(), 'aal1', 3 from created
          returning id)
      insert into auth.mfa_amr_claims (id, session_id, created_at, updated_at, authentication_method)
        select gen_random_uuid(), id, now(), now(), 'password' from opened`,
    [from, count, stored],
  )
  await settle(client)
}

/** Adds sessions that ended a week ago, several to a user. */
export async function storeEndedSessions(client: Client, count: number): Promise<void> {
  await client.query(
    `with owners as (select id, row_number() over () as place from auth.users limit $1::int),
        ended as (
          insert into auth.sessions (id, user_id, created_at, updated_at, aal, not_after)
            select gen_random_uuid(), owners.id, now() - interval '8 days',
              now() - interval '8 days', 'aal1', now() - interval '7 days'
            from generate_series(1, $1::int) i
            join owners on owners.place = 1 + i % (select count(*) from owners)
            returning id)
      insert into auth.mfa_amr_claims (id, session_id, created_at, updated_at, authentication_method)
        select gen_random_uuid(), id, now(), now(), 'password' from ended`,
    [count],
  )
  await settle(client)
}

export async function countEndedSessions(client: Client): Promise<number> {
  const { rows } = await client.query(
    `select count(*)::int as ended from auth.sessions where not_after < now() - interval '2 days'`,
  )
  return rows[0].ended
}

/** Addresses of some users, from all over the table. */
export async function pickEmails(client: Client, count: number): Promise<string[]> {
  const { rows } = await client.query(
    `select email from auth.users where email like 'stored-%' order by random() limit $1`,
    [count],
  )
  return rows.map(({ email }) => email)
}

/** Runs the maintenance that Postgres would otherwise do during the measurement. */
async function settle(client: Client): Promise<void> {
  for (const table of ['users', 'identities', 'sessions', 'mfa_amr_claims']) {
    await client.query(`vacuum analyze auth.${table}`)
  }
  await client.query('checkpoint')
}
