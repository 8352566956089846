import { type Static, Type } from '@sinclair/typebox'

import { Metadata } from './fields.ts'
import { Identity, type IdentitySource, toIdentity } from './identity.ts'
import { nullable, StringEnum } from './values/choices.ts'
import { Timestamp, toTimestamp } from './values/timestamp.ts'

export const Factor = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    created_at: Timestamp,
    updated_at: Timestamp,
    status: StringEnum(['unverified', 'verified']),
    friendly_name: Type.Optional(Type.String()),
    factor_type: Type.String(),
    phone: Type.String({ description: 'E.164 digits of a phone factor, else empty' }),
    last_challenged_at: nullable(Timestamp),
    web_authn_aaguid: Type.Optional(Type.String()),
  },
  { title: 'Factor' },
)
export type Factor = Static<typeof Factor>

export const User = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    aud: Type.String(),
    role: Type.String(),
    email: Type.String(),
    email_confirmed_at: Type.Optional(Timestamp),
    invited_at: Type.Optional(Timestamp),
    phone: Type.String({ description: 'E.164 digits without the leading +' }),
    phone_confirmed_at: Type.Optional(Timestamp),
    confirmation_sent_at: Type.Optional(Timestamp),
    confirmed_at: Type.Optional(Timestamp),
    recovery_sent_at: Type.Optional(Timestamp),
    new_email: Type.Optional(Type.String()),
    email_change_sent_at: Type.Optional(Timestamp),
    new_phone: Type.Optional(Type.String()),
    phone_change_sent_at: Type.Optional(Timestamp),
    reauthentication_sent_at: Type.Optional(Timestamp),
    last_sign_in_at: Type.Optional(Timestamp),
    app_metadata: Metadata,
    user_metadata: Metadata,
    factors: Type.Optional(Type.Array(Factor)),
    identities: nullable(Type.Array(Identity)),
    created_at: Timestamp,
    updated_at: Timestamp,
    banned_until: Type.Optional(Timestamp),
    deleted_at: Type.Optional(Timestamp),
    is_anonymous: Type.Boolean(),
  },
  { title: 'User' },
)
export type User = Static<typeof User>

type Nullable<T> = T | null

/** Omitted when null. */
const optionalTimes = [
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
  'banned_until',
  'deleted_at',
] as const

type Times = Record<(typeof optionalTimes)[number] | 'created_at' | 'updated_at', Nullable<Date>>

export interface FactorSource {
  id: string
  created_at: string | Date
  updated_at: string | Date
  status: 'unverified' | 'verified'
  friendly_name: Nullable<string>
  factor_type: string
  phone: Nullable<string>
  last_challenged_at: Nullable<string | Date>
  web_authn_aaguid: Nullable<string>
}

export interface UserSource extends Times {
  id: string
  aud: Nullable<string>
  role: Nullable<string>
  email: Nullable<string>
  phone: Nullable<string>
  email_change: Nullable<string>
  phone_change: Nullable<string>
  raw_app_meta_data: Nullable<Record<string, unknown>>
  raw_user_meta_data: Nullable<Record<string, unknown>>
  is_anonymous: boolean
  identities: IdentitySource[]
  factors: FactorSource[]
}

/** The only conversion from columns to a user in responses; empty and null fields are omitted. */
export function toUser(row: UserSource): User {
  return {
    id: row.id,
    aud: row.aud ?? '',
    role: row.role ?? '',
    email: row.email ?? '',
    phone: row.phone ?? '',
    ...times(row),
    ...(row.email_change && { new_email: row.email_change }),
    ...(row.phone_change && { new_phone: row.phone_change }),
    app_metadata: row.raw_app_meta_data ?? {},
    user_metadata: row.raw_user_meta_data ?? {},
    ...(row.factors.length > 0 && { factors: row.factors.map(toFactor) }),
    identities: row.identities.map(toIdentity),
    created_at: toTimestamp(row.created_at ?? new Date(0)),
    updated_at: toTimestamp(row.updated_at ?? new Date(0)),
    is_anonymous: row.is_anonymous,
  }
}

function times(row: Times): Partial<Record<(typeof optionalTimes)[number], string>> {
  const result: ReturnType<typeof times> = {}
  for (const key of optionalTimes) {
    const value = row[key]
    if (value) result[key] = toTimestamp(value)
  }
  return result
}

export function toFactor(row: FactorSource): Factor {
  return {
    id: row.id,
    created_at: toTimestamp(row.created_at),
    updated_at: toTimestamp(row.updated_at),
    status: row.status,
    ...(row.friendly_name && { friendly_name: row.friendly_name }),
    factor_type: row.factor_type,
    phone: row.phone ?? '',
    last_challenged_at: row.last_challenged_at && toTimestamp(row.last_challenged_at),
    ...(row.web_authn_aaguid && { web_authn_aaguid: row.web_authn_aaguid }),
  }
}
