/** Resources as clients receive them. */
import type { ScimGroupRow } from '../../db/scim/groups.ts'
import type { ScimUserRow } from '../../db/scim/users.ts'
import { type ResourceDefinition, resourceDefinitions } from '../../schemas/scim/resources.ts'
import { toEntityTag } from './version.ts'

type Parts = Record<string, unknown>

export function toUserResource(row: ScimUserRow, base: string): Parts {
  const groups = row.groups.map(({ id, name }) => ({
    value: id,
    $ref: `${base}/Groups/${id}`,
    display: name,
    type: 'direct',
  }))
  const { schemas, ...attributes } = row.resource
  return {
    schemas,
    id: row.id,
    ...attributes,
    ...(groups.length > 0 && { groups }),
    meta: buildMeta(resourceDefinitions.User, row, base),
  }
}

export function toGroupResource(row: ScimGroupRow, base: string): Parts {
  const members = (row.members ?? []).map(({ id }) => ({
    value: id,
    $ref: `${base}/Users/${id}`,
    type: 'User',
  }))
  const { schemas, ...attributes } = row.resource
  return {
    schemas,
    id: row.id,
    ...attributes,
    ...(members.length > 0 && { members }),
    meta: buildMeta(resourceDefinitions.Group, row, base),
  }
}

function buildMeta(
  { type, endpoint }: ResourceDefinition,
  row: { id: string; created_at: Date; updated_at: Date },
  base: string,
) {
  return {
    resourceType: type,
    created: row.created_at.toISOString(),
    lastModified: row.updated_at.toISOString(),
    location: `${base}/${endpoint}/${row.id}`,
    version: toEntityTag(row),
  }
}
