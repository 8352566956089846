import type { ColumnType, Generated, GeneratedAlways } from 'kysely'

/** A resource without the attributes that the server adds. */
export type StoredScimResource = Record<string, unknown>

type StoredResource = ColumnType<StoredScimResource, string, string>

/** GoTrue's table of provisioned users. */
export interface ScimUsersTable {
  id: string
  /** The connection. */
  sso_provider_id: string
  /** The account; null after it was deleted. */
  user_id: string | null
  resource: StoredResource
  /** In lower case. */
  user_name: GeneratedAlways<string>
  external_id: GeneratedAlways<string | null>
  active: GeneratedAlways<boolean>
  created_at: Generated<Date>
  updated_at: Generated<Date>
  deleted_at: Date | null
}

/** GoTrue's table of tokens. */
interface ScimTokensTable {
  id: string
  sso_provider_id: string
  token_hash: string
  /** The first characters, to recognize a token by. */
  prefix: string
  created_at: Generated<Date>
  expires_at: Date | null
  revoked_at: Date | null
  last_used_at: Date | null
}

interface ScimTokenNamesTable {
  token_id: string
  name: string
}

/** A client that provisions users: of an SSO provider, of an organization, or of both. */
export interface ScimConnectionsTable {
  sso_provider_id: string
  organization_id: string | null
  name: string
  /** The role of members without a group that has one. */
  default_role: Generated<string>
  enabled: Generated<boolean>
  created_at: Date
  updated_at: Date
}

/** Accounts that a client deactivated, also after its connection or the provisioned user was deleted. */
export interface DeactivationsTable {
  user_id: string
  connection_id: string
  created_at: Date
}

/** Provisioned users whose account was created for them; others were linked to an existing one. */
interface ScimAccountsTable {
  scim_user_id: string
}

export interface ScimGroupsTable {
  id: string
  sso_provider_id: string
  resource: StoredResource
  /** In lower case. */
  display_name: GeneratedAlways<string>
  external_id: GeneratedAlways<string | null>
  created_at: Date
  updated_at: Date
}

interface ScimGroupMembersTable {
  group_id: string
  scim_user_id: string
}

/** The role of the members of a group, by its name in lower case. Of several, the lowest priority decides. */
export interface ScimRoleMappingsTable {
  sso_provider_id: string
  group_name: string
  role: string
  priority: number
}

export interface ScimTables {
  postern_deactivations: DeactivationsTable
  postern_scim_accounts: ScimAccountsTable
  postern_scim_connections: ScimConnectionsTable
  postern_scim_group_members: ScimGroupMembersTable
  postern_scim_groups: ScimGroupsTable
  postern_scim_role_mappings: ScimRoleMappingsTable
  postern_scim_tokens: ScimTokenNamesTable
  scim_tokens: ScimTokensTable
  scim_users: ScimUsersTable
}
