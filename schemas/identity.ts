import { type Static, Type } from '@sinclair/typebox'

import { Metadata } from './fields.ts'
import { Timestamp, toTimestamp } from './values/timestamp.ts'

export const Identity = Type.Object(
  {
    identity_id: Type.String({ format: 'uuid' }),
    id: Type.String({ description: "The user's id at the provider" }),
    user_id: Type.String({ format: 'uuid' }),
    identity_data: Type.Optional(Metadata),
    provider: Type.String(),
    last_sign_in_at: Type.Optional(Timestamp),
    created_at: Type.Optional(Timestamp),
    updated_at: Type.Optional(Timestamp),
    email: Type.Optional(Type.String()),
  },
  { title: 'Identity' },
)
export type Identity = Static<typeof Identity>

export interface IdentitySource {
  id: string
  provider_id: string
  user_id: string
  identity_data: Record<string, unknown>
  provider: string
  last_sign_in_at: string | Date | null
  created_at: string | Date | null
  updated_at: string | Date | null
  email: string | null
}

export function toIdentity(row: IdentitySource): Identity {
  return {
    identity_id: row.id,
    id: row.provider_id,
    user_id: row.user_id,
    // Absent when empty, as in GoTrue: after a soft deletion.
    ...(Object.keys(row.identity_data).length > 0 && { identity_data: row.identity_data }),
    provider: row.provider,
    ...(row.last_sign_in_at && { last_sign_in_at: toTimestamp(row.last_sign_in_at) }),
    ...(row.created_at && { created_at: toTimestamp(row.created_at) }),
    ...(row.updated_at && { updated_at: toTimestamp(row.updated_at) }),
    ...(row.email && { email: row.email }),
  }
}
