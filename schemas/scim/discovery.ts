/** The discovery documents (RFC 7643 §5 to §7). They state what this server does. */
import { groupAttributes } from './group-attributes.ts'
import {
  enterpriseSchema,
  groupSchema,
  type ResourceDefinition,
  resourceDefinitions,
  userSchema,
} from './resources.ts'
import { enterpriseAttributes, userAttributes } from './user-attributes.ts'

export const defaultPageSize = 100
export const maxPageSize = 1000

export const listResponseUrn = 'urn:ietf:params:scim:api:messages:2.0:ListResponse'
const configSchema = 'urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'
const typeSchema = 'urn:ietf:params:scim:schemas:core:2.0:ResourceType'
const schemaSchema = 'urn:ietf:params:scim:schemas:core:2.0:Schema'

/** `base` is the address of the connection. */
export function serviceProviderConfig(base: string) {
  return {
    schemas: [configSchema],
    patch: { supported: true },
    bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults: maxPageSize },
    changePassword: { supported: false },
    sort: { supported: false },
    etag: { supported: true },
    pagination: {
      cursor: true,
      index: true,
      defaultPaginationMethod: 'index',
      defaultPageSize,
      maxPageSize,
    },
    authenticationSchemes: [
      {
        type: 'oauthbearertoken',
        name: 'Bearer token',
        description: 'A token of the connection in the Authorization header (RFC 6750)',
        specUri: 'https://www.rfc-editor.org/rfc/rfc6750',
        primary: true,
      },
    ],
    meta: { resourceType: 'ServiceProviderConfig', location: `${base}/ServiceProviderConfig` },
  }
}

const definitions: readonly ResourceDefinition[] = Object.values(resourceDefinitions)

export function resourceTypes(base: string) {
  return definitions.map(({ type, endpoint, schema, extensions }) => ({
    schemas: [typeSchema],
    id: type,
    name: type,
    description: `${endpoint} of this connection`,
    endpoint: `/${endpoint}`,
    schema,
    schemaExtensions: Object.keys(extensions).map((urn) => ({ schema: urn, required: false })),
    meta: { resourceType: 'ResourceType', location: `${base}/ResourceTypes/${type}` },
  }))
}

export function schemas(base: string) {
  const described = [
    [userSchema, 'User', 'A user', userAttributes],
    [enterpriseSchema, 'EnterpriseUser', 'A user of an enterprise', enterpriseAttributes],
    [groupSchema, 'Group', 'A group of users', groupAttributes],
  ] as const
  return described.map(([id, name, description, attributes]) => ({
    schemas: [schemaSchema],
    id,
    name,
    description,
    attributes,
    meta: { resourceType: 'Schema', location: `${base}/Schemas/${id}` },
  }))
}

export function listResponse(resources: readonly object[]) {
  return {
    schemas: [listResponseUrn],
    totalResults: resources.length,
    itemsPerPage: resources.length,
    startIndex: 1,
    Resources: resources,
  }
}
