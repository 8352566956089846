/** Resources as clients receive them, with their entity tags (RFC 7644 §3.14). */
import type { ScimGroupRow } from '../../db/scim/groups.ts'
import type { ScimUserRow } from '../../db/scim/users.ts'
import { scimRejected } from '../../schemas/errors.ts'
import { type ResourceDefinition, resourceDefinitions } from '../../schemas/scim/resources.ts'

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

type Versioned = Readonly<{ updated_at: Date }>

/** The time of the last change: each change has a later one. */
export const toEntityTag = ({ updated_at }: Versioned): string =>
  `W/"${updated_at.getTime().toString(36)}"`

/** Throws 412 when the resource has another version than the client expects. */
export function checkVersion(row: Versioned, ifMatch: string | undefined): void {
  if (ifMatch === undefined || matchesVersion(row, ifMatch)) return
  throw scimRejected(412, undefined, 'The resource has changed. Get it again before you change it.')
}

/** Weak comparison (RFC 9110 §8.8.3.2). */
export function matchesVersion(row: Versioned, tags: string): boolean {
  if (tags.trim() === '*') return true
  const own = toEntityTag(row).replace(/^W\//, '')
  return tags.split(',').some((tag) => tag.trim().replace(/^W\//, '') === own)
}
