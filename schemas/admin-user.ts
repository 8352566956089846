/** Request bodies of admins for users. */
import { type Static, Type } from '@sinclair/typebox'

import { Metadata, Phone } from './fields.ts'
import { toUser, User, type UserSource } from './user.ts'
import { Timestamp, toTimestamp } from './values/timestamp.ts'

const RecordFields = {
  role: Type.Optional(
    Type.String({ maxLength: 255, description: 'Role claim of the access tokens' }),
  ),
  email: Type.Optional(Type.String()),
  phone: Phone,
  password: Type.Optional(Type.String()),
  email_confirm: Type.Optional(Type.Boolean({ description: 'Treat the address as verified' })),
  phone_confirm: Type.Optional(Type.Boolean({ description: 'Treat the number as verified' })),
  user_metadata: Type.Optional(Metadata),
  app_metadata: Type.Optional(Metadata),
  ban_duration: Type.Optional(
    Type.String({
      description:
        'Go-style duration such as 24h or 1h30m; none lifts the ban, and a deactivation by SCIM',
    }),
  ),
}

const NewRecordFields = {
  id: Type.Optional(Type.String({ description: 'UUID; generated when absent' })),
  aud: Type.Optional(Type.String({ maxLength: 255 })),
  ...RecordFields,
  password_hash: Type.Optional(
    Type.String({
      maxLength: 255,
      description:
        'bcrypt, argon2, PBKDF2 or Firebase scrypt, instead of a password; replaced at the next sign-in',
    }),
  ),
}

export const RecordChange = Type.Object(RecordFields)
export type RecordChange = Static<typeof RecordChange>

export const NewRecord = Type.Object(NewRecordFields)
export type NewRecord = Static<typeof NewRecord>

export const UserPath = Type.Object({ user_id: Type.String() })

export const AdminUser = Type.Object(
  {
    ...User.properties,
    deactivated_at: Type.Optional({
      ...Timestamp,
      description: 'When a SCIM client deactivated the account',
    }),
  },
  { title: 'AdminUser' },
)
export type AdminUser = Static<typeof AdminUser>

/** A user as admins receive one. */
export function toAdminUser(row: UserSource, deactivatedAt: Date | undefined): AdminUser {
  return { ...toUser(row), ...(deactivatedAt && { deactivated_at: toTimestamp(deactivatedAt) }) }
}
