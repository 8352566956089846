/** Organizations as members and admins see them. */
import { type Static, Type } from '@sinclair/typebox'

import { validationFailed } from '../errors.ts'
import { nullable, StringEnum } from '../values/choices.ts'
import { Timestamp, toTimestamp } from '../values/timestamp.ts'
import { Next } from './list.ts'
import { effectivePermissions } from './permissions.ts'

const Id = Type.String({ format: 'uuid' })
const Name = Type.String({ minLength: 1, maxLength: 100 })
const Slug = Type.String({
  description: '1 to 63 lower-case letters, digits and hyphens; made from the name when absent',
})
const Metadata = Type.Record(Type.String(), Type.Unknown(), {
  description: 'Free-form JSON object of at most 16 KiB, which replaces the earlier one',
})

const joinFields = {
  invitation: Type.Boolean(),
  domain: StringEnum(['off', 'suggested', 'automatic'], {
    description: 'Whether users with a verified domain may join, or do so by themselves',
  }),
  sso: Type.Boolean({ description: 'By a sign-in through a connection' }),
  scim: Type.Boolean(),
}

export const OrganizationPath = Type.Object({ organization_id: Type.String() })

export const OrganizationInput = Type.Object({
  name: Name,
  slug: Type.Optional(Slug),
  metadata: Type.Optional(Metadata),
})

export const OrganizationChange = Type.Object({
  name: Type.Optional(Name),
  slug: Type.Optional(Slug),
  metadata: Type.Optional(Metadata),
  joining: Type.Optional(Type.Partial(Type.Object(joinFields))),
  default_role: Type.Optional(Type.String({ description: 'Of users who join by domain' })),
})

const fields = {
  id: Id,
  slug: Type.String(),
  name: Type.String(),
  metadata: Type.Record(Type.String(), Type.Unknown()),
  joining: Type.Object(joinFields),
  default_role: Type.String(),
  created_at: Timestamp,
  updated_at: Timestamp,
}

export const Organization = Type.Object(fields, { title: 'Organization' })

export const Membership = Type.Object(
  {
    ...fields,
    role: Type.String(),
    permissions: Type.Array(Type.String(), { description: '`*` for all' }),
    joined_by: Type.String(),
    joined_at: Timestamp,
    active: Type.Boolean({ description: 'True for the organization of the current session' }),
  },
  { title: 'OrganizationMembership' },
)

export const Memberships = Type.Object({ organizations: Type.Array(Membership), next: Next })

export const AdminOrganization = Type.Object(
  {
    ...fields,
    created_by: nullable(Id),
    deleted_at: nullable(Timestamp),
    member_count: Type.Optional(Type.Integer()),
  },
  { title: 'AdminOrganization' },
)

interface OrganizationSource {
  id: string
  slug: string
  name: string
  metadata: Record<string, unknown>
  invitation_join: boolean
  domain_join: 'off' | 'suggested' | 'automatic'
  sso_join: boolean
  scim_join: boolean
  default_role: string
  created_at: Date
  updated_at: Date
}

export function toOrganization(row: OrganizationSource): Static<typeof Organization> {
  const { id, slug, name, metadata, default_role } = row
  return {
    id,
    slug,
    name,
    metadata,
    default_role,
    joining: {
      invitation: row.invitation_join,
      domain: row.domain_join,
      sso: row.sso_join,
      scim: row.scim_join,
    },
    created_at: toTimestamp(row.created_at),
    updated_at: toTimestamp(row.updated_at),
  }
}

interface MembershipSource extends OrganizationSource {
  role: string
  role_permissions: string[] | null
  joined_by: string
  joined_at: Date
  is_active: boolean
}

export function toMembership(row: MembershipSource): Static<typeof Membership> {
  const { role, joined_by } = row
  return {
    ...toOrganization(row),
    role,
    joined_by,
    permissions: effectivePermissions(role, row.role_permissions),
    joined_at: toTimestamp(row.joined_at),
    active: row.is_active,
  }
}

interface AdminSource extends OrganizationSource {
  created_by: string | null
  deleted_at: Date | null
  member_count?: number | null
}

export function toAdminOrganization(row: AdminSource): Static<typeof AdminOrganization> {
  return {
    ...toOrganization(row),
    created_by: row.created_by,
    deleted_at: row.deleted_at && toTimestamp(row.deleted_at),
    ...(typeof row.member_count === 'number' && { member_count: row.member_count }),
  }
}

const maxMetadataBytes = 16_384

/** Throws validation_failed. */
export function checkOrganizationMetadata(metadata: Record<string, unknown> | undefined): void {
  if (metadata && Buffer.byteLength(JSON.stringify(metadata)) > maxMetadataBytes) {
    throw validationFailed(`metadata may have no more than ${maxMetadataBytes} bytes of JSON`, 422)
  }
}

/** The columns of a change. */
export function organizationColumns(change: Static<typeof OrganizationChange>) {
  const { joining = {}, ...rest } = change
  return {
    ...rest,
    ...(joining.invitation !== undefined && { invitation_join: joining.invitation }),
    ...(joining.domain !== undefined && { domain_join: joining.domain }),
    ...(joining.sso !== undefined && { sso_join: joining.sso }),
    ...(joining.scim !== undefined && { scim_join: joining.scim }),
  }
}
