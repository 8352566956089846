/**
 * Serializes listed users from Postgres's text format: parsing dates and metadata only to serialize them took most of
 * the time of a list.
 */
import type { User } from './user.ts'
import { endlessTimestamp } from './values/timestamp.ts'

type Text =
  | ('aud' | 'role' | 'email' | 'phone' | 'email_change' | 'phone_change')
  | ('raw_app_meta_data' | 'raw_user_meta_data')
type Time = keyof User & (`${string}_at` | 'banned_until')

/** Times are in UTC without a zone, metadata are JSON. */
type ListedUser = Record<Text | Time, string | null> & { id: string; is_anonymous: boolean }

/** The JSON of a field; undefined when it is omitted. */
type Write = (row: ListedUser) => string | undefined

/** In schema order. Lists have no identities and no factors, as SDKs expect. */
const fields: Record<Exclude<keyof User, 'factors'>, Write> = {
  id: ({ id }) => JSON.stringify(id),
  aud: ({ aud }) => JSON.stringify(aud ?? ''),
  role: ({ role }) => JSON.stringify(role ?? ''),
  email: ({ email }) => JSON.stringify(email ?? ''),
  email_confirmed_at: (row) => time(row.email_confirmed_at),
  invited_at: (row) => time(row.invited_at),
  phone: ({ phone }) => JSON.stringify(phone ?? ''),
  phone_confirmed_at: (row) => time(row.phone_confirmed_at),
  confirmation_sent_at: (row) => time(row.confirmation_sent_at),
  confirmed_at: (row) => time(row.confirmed_at),
  recovery_sent_at: (row) => time(row.recovery_sent_at),
  new_email: ({ email_change }) => (email_change ? JSON.stringify(email_change) : undefined),
  email_change_sent_at: (row) => time(row.email_change_sent_at),
  new_phone: ({ phone_change }) => (phone_change ? JSON.stringify(phone_change) : undefined),
  phone_change_sent_at: (row) => time(row.phone_change_sent_at),
  reauthentication_sent_at: (row) => time(row.reauthentication_sent_at),
  last_sign_in_at: (row) => time(row.last_sign_in_at),
  app_metadata: (row) => metadata(row.raw_app_meta_data),
  user_metadata: (row) => metadata(row.raw_user_meta_data),
  identities: () => 'null',
  created_at: (row) => time(row.created_at) ?? epoch,
  updated_at: (row) => time(row.updated_at) ?? epoch,
  banned_until: (row) => time(row.banned_until),
  deleted_at: (row) => time(row.deleted_at),
  is_anonymous: ({ is_anonymous }) => String(is_anonymous),
}

const epoch = '"1970-01-01T00:00:00.000Z"'
const writers = Object.entries(fields).map(([name, write]) => ({ before: `"${name}":`, write }))

/** The JSON of a list of users with its pagination. */
export function listedUsersJson(
  rows: readonly ListedUser[],
  more: {
    aud: string
    next_cursor?: string
    pagination?: { next_cursor?: string; has_more: boolean }
  },
): Buffer {
  const users = rows.map(listedUserJson).join()
  return Buffer.from(`{"users":[${users}],${JSON.stringify(more).slice(1)}`)
}

/** The same fields and values as those of `toUser`. */
function listedUserJson(row: ListedUser): string {
  let json = ''
  for (const { before, write } of writers) {
    const value = write(row)
    if (value !== undefined) json += `${json && ','}${before}${value}`
  }
  return `{${json}}`
}

/** Converts `2026-11-22 10:00:00.123456` to RFC 3339 with at least milliseconds. */
function time(text: string | null): string | undefined {
  if (text === null) return undefined
  const point = text[19] ?? '.'
  // Times BC and after the year 9999 have other lengths.
  if (text[10] !== ' ' || point !== '.') {
    return JSON.stringify(endlessTimestamp(text) ?? new Date(`${text}Z`))
  }
  return `"${text.slice(0, 10)}T${text.slice(11, 19)}.${text.slice(20).padEnd(3, '0')}Z"`
}

/** The column may also have the JSON null. */
function metadata(json: string | null): string {
  return json === null || json === 'null' ? '{}' : json
}
