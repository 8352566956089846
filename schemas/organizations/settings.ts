/** Roles, domains, connections, groups and the audit log of an organization. */
import { type Static, Type } from '@sinclair/typebox'

import { actingFields } from '../values/acting.ts'
import { nullable, oneOfOrNull, StringEnum } from '../values/choices.ts'
import { Timestamp, toTimestamp } from '../values/timestamp.ts'
import { Next } from './list.ts'
import { effectivePermissions, isSystemRole, systemRoleNames } from './permissions.ts'

const Id = Type.String({ format: 'uuid' })
const Text = Type.String()
const Permissions = Type.Array(Text, { description: '`resource:action`', maxItems: 200 })
const times = { created_at: Timestamp, updated_at: Timestamp }

interface Timed {
  created_at: Date
  updated_at: Date
}

const toTimes = ({ created_at, updated_at }: Timed) => ({
  created_at: toTimestamp(created_at),
  updated_at: toTimestamp(updated_at),
})

export const RoleInput = Type.Object({
  description: Type.Optional(Type.String({ maxLength: 255 })),
  permissions: Type.Optional(Permissions),
})

export const NewRole = Type.Object({ name: Text, ...RoleInput.properties })

export const Role = Type.Object(
  {
    name: Text,
    description: Text,
    permissions: Permissions,
    scope: StringEnum(['system', 'server', 'organization'], {
      description: 'Of every installation, of every organization, or of this one',
    }),
  },
  { title: 'OrganizationRole' },
)

export const Roles = Type.Object({ roles: Type.Array(Role) })

interface RoleSource {
  organization_id: string | null
  name: string
  description: string
  permissions: string[]
}

/** The system roles first. A stored role of the same name adds to one. */
export function toRoles(rows: readonly RoleSource[]): Static<typeof Role>[] {
  const names = [...new Set([...systemRoleNames, ...rows.map(({ name }) => name)])]
  return names.map((name) =>
    toRole(
      name,
      rows.filter((row) => row.name === name),
    ),
  )
}

export function toRole(name: string, rows: readonly RoleSource[]): Static<typeof Role> {
  const stored = rows.flatMap(({ permissions }) => permissions)
  const isOwn = rows.some(({ organization_id: id }) => id !== null)
  return {
    name,
    description: rows.map(({ description }) => description).find(Boolean) ?? '',
    permissions: effectivePermissions(name, stored),
    scope: isSystemRole(name) ? 'system' : isOwn ? 'organization' : 'server',
  }
}

export const Domain = Type.Object(
  {
    id: Id,
    domain: Text,
    verified_at: nullable(Timestamp),
    verified_by: oneOfOrNull(['dns', 'email', 'admin']),
    dns_record: Type.Object({ name: Text, type: Text, value: Text }),
    email_addresses: Type.Array(Text, { description: 'Where a code can be sent' }),
    ...times,
  },
  { title: 'OrganizationDomain' },
)

export const Domains = Type.Object({ domains: Type.Array(Domain) })

const RoleRule = Type.Object({ attribute: Text, value: Text, role: Text })

const connectionFields = {
  name: Type.String({ minLength: 1, maxLength: 100 }),
  enabled: Type.Boolean(),
  default_role: Text,
  role_mapping: Type.Array(RoleRule, {
    maxItems: 100,
    description: 'The first rule whose attribute has the value decides',
  }),
}

export const ConnectionChange = Type.Partial(Type.Object(connectionFields))

export const NewConnection = Type.Object({
  ...ConnectionChange.properties,
  name: connectionFields.name,
  sso_provider_id: Type.Optional(Id),
  custom_provider: Type.Optional(Type.String({ description: '`custom:` and a name' })),
})

export const Connection = Type.Object(
  {
    id: Id,
    ...connectionFields,
    sso_provider_id: nullable(Id),
    custom_provider: nullable(Text),
    ...times,
  },
  { title: 'OrganizationConnection' },
)

export const Connections = Type.Object({ connections: Type.Array(Connection) })

interface ConnectionSource extends Timed {
  id: string
  name: string
  enabled: boolean
  default_role: string
  role_mapping: Static<typeof RoleRule>[]
  sso_provider_id: string | null
  identifier: string | null
}

export function toConnection(row: ConnectionSource): Static<typeof Connection> {
  const { id, name, enabled, default_role, role_mapping, sso_provider_id } = row
  const fields = { id, name, enabled, default_role, role_mapping, sso_provider_id }
  return { ...fields, custom_provider: row.identifier, ...toTimes(row) }
}

export const GroupChange = Type.Object({
  role: Type.Optional(Type.String({ description: 'Empty for none' })),
  priority: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000 })),
})

export const Group = Type.Object(
  {
    id: Id,
    name: Text,
    external_id: nullable(Text),
    connection_id: { ...Id, description: 'The SCIM connection' },
    role: nullable(Text),
    priority: nullable(
      Type.Integer({
        description: 'Of several groups with a role, the lowest decides; null without a role',
      }),
    ),
    ...times,
  },
  { title: 'OrganizationGroup' },
)

export const Groups = Type.Object({ groups: Type.Array(Group) })

interface GroupSource extends Timed {
  id: string
  name: string
  external_id: string | null
  connection_id: string
  role: string | null
  priority: number | null
}

export function toGroup(row: GroupSource): Static<typeof Group> {
  const { id, name, external_id, connection_id, role, priority } = row
  return { id, name, external_id, connection_id, role, priority, ...toTimes(row) }
}

export const AuditEntries = Type.Object({
  entries: Type.Array(
    Type.Object({
      id: Id,
      action: Text,
      actor_id: nullable(Id),
      actor_name: Text,
      ...actingFields,
      traits: Type.Record(Text, Type.Unknown()),
      ip_address: Text,
      created_at: Timestamp,
    }),
  ),
  next: Next,
})
