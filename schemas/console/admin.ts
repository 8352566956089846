/** Admins in admin API responses. */
import { type Static, Type } from '@sinclair/typebox'

import { nullable } from '../values/choices.ts'
import { Timestamp, toTimestamp } from '../values/timestamp.ts'
import { AdminRole } from './admin-role.ts'

const Text = nullable(Type.String())

export const Admin = Type.Object(
  {
    user_id: Type.String({ format: 'uuid' }),
    email: Text,
    phone: Text,
    role: AdminRole,
    has_factor: Type.Boolean({ description: 'Whether the admin has a verified second factor' }),
    last_sign_in_at: nullable(Timestamp),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Admin' },
)
export type Admin = Static<typeof Admin>

/** Instead of an admin, for an address that no user has confirmed. */
export const AdminInvitation = Type.Object(
  {
    email: Type.String(),
    role: AdminRole,
    link: Type.String({ description: 'Sets a password and gives the role, once' }),
    expires_at: Timestamp,
  },
  { title: 'AdminInvitation' },
)
export type AdminInvitation = Static<typeof AdminInvitation>

export const Admins = Type.Object({ admins: Type.Array(Admin) }, { title: 'Admins' })

interface AdminSource extends Omit<Admin, 'last_sign_in_at' | 'created_at' | 'updated_at'> {
  last_sign_in_at: Date | null
  created_at: Date
  updated_at: Date
}

export function toAdmin(row: AdminSource): Admin {
  const { user_id, email, phone, role, has_factor, last_sign_in_at } = row
  return {
    user_id,
    email,
    phone,
    role,
    has_factor,
    last_sign_in_at: last_sign_in_at && toTimestamp(last_sign_in_at),
    created_at: toTimestamp(row.created_at),
    updated_at: toTimestamp(row.updated_at),
  }
}

/** The user of a console session. */
export const ConsoleUser = Type.Object({
  id: Type.String({ format: 'uuid' }),
  email: Text,
  phone: Text,
})

export const toConsoleUser = ({ id, email, phone }: Static<typeof ConsoleUser>) => ({
  id,
  email: email || null,
  phone: phone || null,
})
