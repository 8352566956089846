/**
 * The attributes of users and groups (RFC 7643 §4). Discovery documents, canonical names, filters and the reading of
 * values derive from this table.
 */
import { attribute, type ScimAttribute } from './attributes.ts'
import { groupAttributes } from './group-attributes.ts'
import { enterpriseAttributes, userAttributes } from './user-attributes.ts'

export const userSchema = 'urn:ietf:params:scim:schemas:core:2.0:User'
export const groupSchema = 'urn:ietf:params:scim:schemas:core:2.0:Group'
export const enterpriseSchema = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'

export type ResourceType = 'User' | 'Group'

export interface ResourceDefinition {
  type: ResourceType
  endpoint: 'Users' | 'Groups'
  schema: string
  attributes: readonly ScimAttribute[]
  extensions: Readonly<Record<string, readonly ScimAttribute[]>>
}

/** A common attribute, in no schema (RFC 7643 §3.1). */
const externalId = attribute('externalId', 'The id of the client.', { caseExact: true })

export const resourceDefinitions: Readonly<Record<ResourceType, ResourceDefinition>> = {
  User: {
    type: 'User',
    endpoint: 'Users',
    schema: userSchema,
    attributes: [externalId, ...userAttributes],
    extensions: { [enterpriseSchema]: enterpriseAttributes },
  },
  Group: {
    type: 'Group',
    endpoint: 'Groups',
    schema: groupSchema,
    attributes: [externalId, ...groupAttributes],
    extensions: {},
  },
}

/** The definition of an attribute by its name in any case. */
export function findAttribute(
  attributes: readonly ScimAttribute[] | undefined,
  name: string,
): ScimAttribute | undefined {
  const lower = name.toLowerCase()
  return attributes?.find((candidate) => candidate.name.toLowerCase() === lower)
}
