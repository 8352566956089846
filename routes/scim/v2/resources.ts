/**
 * What the routes of users and groups share: schemas, the resource of the path, pages and changes. Resources are read
 * by their own schemas (schemas/scim/resources.ts).
 */
import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'

import type { Trx } from '../../../db/core/database.ts'
import type { Condition, PageRequest } from '../../../db/scim/conditions.ts'
import {
  createSelector,
  type ListRequest,
  matchesVersion,
  type ProvisioningRequest,
  readFilter,
  readScimPage,
  reauthenticateScimClient,
  rowsToRead,
  toEntityTag,
  toList,
} from '../../../modules/scim/index.ts'
import { scimRejected } from '../../../schemas/errors.ts'
import { isUuid } from '../../../schemas/fields.ts'
import { scimBase } from '../../../schemas/scim/connection.ts'
import type { ResourceDefinition, ResourceType } from '../../../schemas/scim/resources.ts'
import { NoBody } from '../../../schemas/values/empty.ts'

const ScimErrorBody = Type.Object(
  {
    schemas: Type.Array(Type.String()),
    status: Type.String(),
    scimType: Type.Optional(Type.String()),
    detail: Type.Optional(Type.String()),
  },
  { title: 'ScimError' },
)
export const ScimErrors = { '4xx': ScimErrorBody, '5xx': ScimErrorBody }

export const ScimResource = Type.Object({}, { additionalProperties: true, title: 'ScimResource' })
export const ScimList = Type.Object({}, { additionalProperties: true, title: 'ScimList' })
export const ScimSearch = Type.Object({}, { additionalProperties: true, title: 'ScimSearch' })
export const ScimPatch = Type.Object({}, { additionalProperties: true, title: 'ScimPatch' })

const ConnectionPath = Type.Object({
  connection: Type.String({ description: 'The id of the connection' }),
})
const ResourcePath = Type.Object({ ...ConnectionPath.properties, id: Type.String() })

const selection = {
  attributes: Type.Optional(Type.String({ description: 'Comma-separated names' })),
  excludedAttributes: Type.Optional(Type.String({ description: 'Comma-separated names' })),
}
const SelectionQuery = Type.Object(selection)
export const ScimListQuery = Type.Object({
  ...selection,
  filter: Type.Optional(Type.String({ description: 'RFC 7644 §3.4.2.2' })),
  startIndex: Type.Optional(Type.String({ description: 'From 1' })),
  count: Type.Optional(Type.String()),
  cursor: Type.Optional(Type.String({ description: 'Empty for the first page (RFC 9865)' })),
})

/** The route schema of both lists. */
export const listRouteSchema = {
  tags: ['scim'],
  params: ConnectionPath,
  response: { 200: ScimList, ...ScimErrors },
}
export const creationSchema = {
  tags: ['scim'],
  params: ConnectionPath,
  querystring: SelectionQuery,
  body: ScimResource,
  response: { 201: ScimResource, ...ScimErrors },
}
export const resourceSchema = {
  tags: ['scim'],
  params: ResourcePath,
  querystring: SelectionQuery,
  response: { 200: ScimResource, ...ScimErrors },
}
export const deletionSchema = {
  tags: ['scim'],
  params: ResourcePath,
  response: { 204: NoBody, ...ScimErrors },
}

/** The connection of the token, and the base URL of its resources. */
export function toProvisioningRequest({
  scimConnection: connection,
  clientIp: ip,
  server,
}: FastifyRequest): ProvisioningRequest & { base: string } {
  if (!connection) throw new Error('the route has no guard')
  const base = scimBase(server.config.AUTH_API_EXTERNAL_URL, connection.sso_provider_id)
  return { connection, ip, now: new Date(), base }
}

/** The resource of the path. Throws 404 for an invalid id. */
export function getResourceKey(request: FastifyRequest, type: ResourceType) {
  const { id = '' }: { id?: string } = Object(request.params)
  if (!isUuid(id)) throw scimRejected(404, undefined, `There is no ${type.toLowerCase()} ${id}`)
  const { sso_provider_id: connectionId } = toProvisioningRequest(request).connection
  return { connectionId, id: id.toLowerCase(), ifMatch: request.headers['if-match'] }
}

/** Sends the resource, or 304 when the client has this version. */
export function sendResource(
  request: FastifyRequest,
  reply: FastifyReply,
  row: { updated_at: Date },
  resource: Record<string, unknown>,
) {
  reply.header('etag', toEntityTag(row))
  const known = request.headers['if-none-match']
  if (request.method === 'GET' && known && matchesVersion(row, known)) {
    return reply.removeHeader('content-type').status(304).send()
  }
  return reply.send(resource)
}

/** The resources of one type. */
interface Listing<Row> {
  definition: ResourceDefinition
  count: (connectionId: string, filter: Condition | undefined) => Promise<number>
  read: (
    connectionId: string,
    filter: Condition | undefined,
    page: PageRequest,
  ) => Promise<(Row & { created_text: string })[]>
  show: (row: Row, base: string) => Record<string, unknown>
}

/** A page of the connection’s resources (RFC 7644 §3.4.2). Nothing is read when only the total is requested. */
export async function listScimResources<Row extends { id: string }>(
  request: FastifyRequest,
  query: ListRequest,
  { definition, count, read, show }: Listing<Row>,
) {
  const { connection, base } = toProvisioningRequest(request)
  const id = connection.sso_provider_id
  const page = readScimPage(query)
  const filter = query.filter ? readFilter(definition, query.filter) : undefined
  const select = createSelector(definition, query)
  const total = await count(id, filter)
  const limit = rowsToRead(page)
  const rows = limit > 0 ? await read(id, filter, { ...page, limit }) : []
  return toList(page, rows, total, (row) => select(show(row, base)))
}

/** Authenticates again in the transaction, because the body or a hook may have taken long. */
export async function applyScimChange<T>(
  request: FastifyRequest,
  work: (trx: Trx, context: ProvisioningRequest) => Promise<T>,
): Promise<T> {
  const { db } = request.server
  const { authorization } = request.headers
  const { connection, ...context } = toProvisioningRequest(request)
  const id = connection.sso_provider_id
  return db.transaction().execute(async (trx) => {
    const current = await reauthenticateScimClient(trx, id, authorization, context.now)
    return work(trx, { ...context, connection: current })
  })
}
