/** SCIM connections and their tokens in admin requests and responses. */
import { type Static, Type } from '@sinclair/typebox'

import { nullable } from '../values/choices.ts'
import { Timestamp, toTimestamp } from '../values/timestamp.ts'

const RoleMapping = Type.Object({
  group: Type.String({ minLength: 1, maxLength: 255, description: 'The displayName of a group' }),
  role: Type.String({ minLength: 1, maxLength: 64, description: 'The role of its members' }),
})

export const ScimConnectionInput = Type.Object({
  name: Type.Optional(Type.String({ maxLength: 255, description: 'Needed for a new connection' })),
  organization_id: Type.Optional(
    Type.String({ description: 'The organization that its users join' }),
  ),
  sso_provider_id: Type.Optional(
    Type.String({ description: 'The SAML provider at which its users sign in' }),
  ),
  default_role: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  enabled: Type.Optional(Type.Boolean()),
  role_mapping: Type.Optional(
    Type.Array(RoleMapping, { maxItems: 500, description: 'The first group that matches decides' }),
  ),
})
export type ScimConnectionInput = Static<typeof ScimConnectionInput>

export const ScimConnection = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    name: Type.String(),
    organization_id: nullable(Type.String({ format: 'uuid' })),
    has_saml: Type.Boolean({ description: 'Its users sign in at the SAML provider of this id' }),
    default_role: Type.String(),
    enabled: Type.Boolean(),
    role_mapping: Type.Array(RoleMapping),
    base_url: Type.String({ description: 'The address for the identity provider' }),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'ScimConnection' },
)
export type ScimConnection = Static<typeof ScimConnection>

interface ScimConnectionSource {
  sso_provider_id: string
  organization_id: string | null
  name: string
  default_role: string
  enabled: boolean
  has_saml: boolean
  role_mapping: { group_name: string; role: string }[]
  created_at: Date
  updated_at: Date
}

/** The address of a connection; `external` is AUTH_API_EXTERNAL_URL. */
export const scimBase = (external: string, id: string): string => `${external}/scim/v2/${id}`

export function toScimConnection(row: ScimConnectionSource, external: string): ScimConnection {
  const { sso_provider_id: id, organization_id, name, default_role, enabled, has_saml } = row
  return {
    id,
    name,
    organization_id,
    has_saml,
    default_role,
    enabled,
    role_mapping: row.role_mapping.map(({ group_name: group, role }) => ({ group, role })),
    base_url: scimBase(external, id),
    created_at: toTimestamp(row.created_at),
    updated_at: toTimestamp(row.updated_at),
  }
}

/** The audit payload of a connection. */
export function auditedScimConnection(row: ScimConnectionSource): Record<string, unknown> {
  const { id, base_url, created_at, updated_at, ...fields } = toScimConnection(row, '')
  return fields
}

export const ScimTokenInput = Type.Object({
  name: Type.Optional(Type.String({ maxLength: 255, description: 'Needed' })),
  expires_in: Type.Optional(
    Type.Integer({
      minimum: 60,
      maximum: 3_153_600_000,
      description: 'Seconds; without it, the token does not expire',
    }),
  ),
})

export const ScimToken = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    name: Type.String(),
    prefix: Type.String({ description: 'The beginning of the token' }),
    created_at: Timestamp,
    expires_at: nullable(Timestamp),
    revoked_at: nullable(Timestamp),
    last_used_at: nullable(Timestamp),
  },
  { title: 'ScimToken' },
)
export type ScimToken = Static<typeof ScimToken>

interface ScimTokenSource {
  id: string
  name: string
  prefix: string
  created_at: Date
  expires_at: Date | null
  revoked_at: Date | null
  last_used_at: Date | null
}

export function toScimToken(row: ScimTokenSource): ScimToken {
  const { id, name, prefix, created_at, expires_at, revoked_at, last_used_at } = row
  return {
    id,
    name,
    prefix,
    created_at: toTimestamp(created_at),
    expires_at: expires_at && toTimestamp(expires_at),
    revoked_at: revoked_at && toTimestamp(revoked_at),
    last_used_at: last_used_at && toTimestamp(last_used_at),
  }
}
