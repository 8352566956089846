import type { FastifyRequest } from 'fastify'

import type { Condition, PageRequest } from '../../../db/scim/conditions.ts'
import {
  createSelector,
  type ListRequest,
  readFilter,
  readScimPage,
  rowsToRead,
  toList,
} from '../../../modules/scim/index.ts'
import type { ResourceDefinition } from '../../../schemas/scim/resources.ts'
import { toProvisioningRequest } from './shapes.ts'

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
