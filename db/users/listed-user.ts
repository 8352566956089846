/** Columns of listed users as text, since they are only serialized again. */
import { sql } from 'kysely'

import type { UserRow } from './users.ts'

const texts = ['aud', 'role', 'email', 'phone', 'email_change', 'phone_change'] as const

const times = [
  'email_confirmed_at',
  'invited_at',
  'phone_confirmed_at',
  'confirmation_sent_at',
  'confirmed_at',
  'recovery_sent_at',
  'email_change_sent_at',
  'phone_change_sent_at',
  'reauthentication_sent_at',
  'last_sign_in_at',
  'created_at',
  'updated_at',
  'banned_until',
  'deleted_at',
] as const

const metadata = ['raw_app_meta_data', 'raw_user_meta_data'] as const

/** A listed user in Postgres's text format: times in UTC without a zone, metadata as JSON. */
export type ListedUserRow = Pick<UserRow, 'id' | 'is_anonymous' | (typeof texts)[number]> &
  Record<(typeof times)[number] | (typeof metadata)[number], string | null>

/** The columns as text. */
export function selectListedColumns() {
  const column = (name: keyof ListedUserRow) => sql.ref(`users.${name}`)
  const inUtc = (name: (typeof times)[number]) => sql`(${column(name)} at time zone 'utc')`
  return [
    sql<string>`${column('id')}`.as('id'),
    sql<boolean>`${column('is_anonymous')}`.as('is_anonymous'),
    ...texts.map((name) => sql<string | null>`${column(name)}`.as(name)),
    ...times.map((name) => sql<string | null>`${inUtc(name)}::text`.as(name)),
    ...metadata.map((name) => sql<string | null>`${column(name)}::text`.as(name)),
  ]
}
