import type { ColumnType, Generated } from 'kysely'

import type { AuditActing } from './audit.ts'

type DomainJoin = 'off' | 'suggested' | 'automatic'
type JoinedBy = 'creation' | 'invitation' | 'domain' | 'sso' | 'scim' | 'admin'

type Json = Record<string, unknown>

export interface OrganizationsTable {
  id: string
  /** In lower case; of a deleted organization as well, so that nothing can pass for it. */
  slug: string
  name: string
  metadata: ColumnType<Json, string | undefined, string>
  created_by: string | null
  /** How users may join. */
  invitation_join: Generated<boolean>
  domain_join: Generated<DomainJoin>
  sso_join: Generated<boolean>
  scim_join: Generated<boolean>
  /** The role of users who join by domain. */
  default_role: Generated<string>
  created_at: Date
  updated_at: Date
  deleted_at: Date | null
}

/** Custom roles. A server-wide role with the name of a system role adds to its permissions. */
export interface OrganizationRolesTable {
  id: string
  /** Null for a role of every organization. */
  organization_id: string | null
  name: string
  description: Generated<string>
  permissions: ColumnType<string[], readonly string[] | undefined, readonly string[]>
  created_at: Date
  updated_at: Date
}

/** The role of users with this value of an attribute. */
export interface RoleRule {
  attribute: string
  value: string
  role: string
}

/** A provider whose users belong to an organization. */
export interface OrganizationConnectionsTable {
  id: string
  organization_id: string
  name: string
  sso_provider_id: string | null
  custom_provider_id: string | null
  enabled: Generated<boolean>
  default_role: Generated<string>
  /** The first rule that matches decides. */
  role_mapping: ColumnType<RoleRule[], string | undefined, string>
  created_at: Date
  updated_at: Date
}

export interface OrganizationMembersTable {
  organization_id: string
  user_id: string
  /** The name of a system role or a custom one. */
  role: string
  /** A suspended member has no rights. */
  status: Generated<'active' | 'suspended'>
  joined_by: JoinedBy
  /** The connection that made the user a member. */
  connection_id: string | null
  created_at: Date
  updated_at: Date
}

/** The active organization of a session. Removing the member removes the row. */
interface SessionOrganizationsTable {
  session_id: string
  organization_id: string
  user_id: string
}

export interface OrganizationInvitationsTable {
  id: string
  organization_id: string
  email: string
  role: string
  /** Only the hash of the token is stored. */
  token_hash: string
  /** A member, or null for an admin of the server. */
  invited_by: string | null
  /** Null for a member, for a token of a service, and in invitations of earlier releases. */
  invited_by_admin: string | null
  created_at: Date
  expires_at: Date
}

export interface OrganizationDomainsTable {
  id: string
  organization_id: string
  /** In ASCII (UTS 46) and lower case. */
  domain: string
  /** The value of the TXT record; no secret. */
  dns_token: string
  verified_at: Date | null
  verified_by: 'dns' | 'email' | 'admin' | null
  /** Where a code was sent, and the hash of the code. */
  email: string | null
  code_hash: string | null
  code_attempts: Generated<number>
  code_expires_at: Date | null
  created_at: Date
  updated_at: Date
}

export interface OrganizationAuditEntriesTable {
  id: string
  organization_id: string
  action: string
  actor_id: string | null
  actor_name: string
  traits: ColumnType<Json, string, never>
  ip_address: string
  created_at: Date
  /** `actor` and `act`; null in entries of earlier releases. */
  acting: ColumnType<AuditActing | null, string, never>
}

export interface OrganizationTables {
  postern_organization_audit_entries: OrganizationAuditEntriesTable
  postern_organization_connections: OrganizationConnectionsTable
  postern_organization_domains: OrganizationDomainsTable
  postern_organization_invitations: OrganizationInvitationsTable
  postern_organization_members: OrganizationMembersTable
  postern_organization_roles: OrganizationRolesTable
  postern_organizations: OrganizationsTable
  postern_session_organizations: SessionOrganizationsTable
}
