import type { ColumnType, Generated, Selectable } from 'kysely'

import type { UserMetadata } from './users.ts'

export const identityColumns = [
  'identities.id',
  'identities.provider_id',
  'identities.user_id',
  'identities.identity_data',
  'identities.provider',
  'identities.last_sign_in_at',
  'identities.created_at',
  'identities.updated_at',
  'identities.email',
] as const

/** An identity in a JSON aggregate: times are ISO 8601 strings. */
export type IdentityJson = Omit<IdentityRow, 'last_sign_in_at' | 'created_at' | 'updated_at'> & {
  last_sign_in_at: string | null
  created_at: string | null
  updated_at: string | null
}

export type IdentityRow = Selectable<IdentitiesTable>

export interface IdentitiesTable {
  id: Generated<string>
  provider_id: string
  user_id: string
  identity_data: ColumnType<UserMetadata, string, string>
  provider: string
  last_sign_in_at: Date | null
  created_at: Date | null
  updated_at: Date | null
  email: ColumnType<string | null, never, never>
}
