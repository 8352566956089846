import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'
import type { FastifyReply } from 'fastify'

import {
  type AuditQuery,
  countAuditEntries,
  listAuditEntries,
  listFilteredEntries,
} from '../../db/audit/audit-log-entries.ts'
import { exactCountLimit } from '../../db/core/paging.ts'
import { AuditFilterQuery, readAuditFilter } from '../../schemas/console/audit-filter.ts'
import { readRowCursor, toRowCursor } from '../../schemas/console/cursor.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import {
  linkTarget,
  PageQuery,
  paginationHeaders,
  readLimit,
  readPage,
} from '../../schemas/pagination.ts'
import { Timestamp } from '../../schemas/values/timestamp.ts'

const path = '/admin/audit'

const Entry = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    payload: Type.Record(Type.String(), Type.Unknown()),
    created_at: Timestamp,
    ip_address: Type.String(),
  },
  { title: 'AuditEntry' },
)

const Entries = Type.Array(Entry)

interface Source {
  id: string
  payload: object
  created_at: Date | null
  ip_address: string
}

const Query = Type.Object({
  ...PageQuery,
  ...AuditFilterQuery,
  limit: Type.Optional(
    Type.String({
      description: '1 to 1000: paginates by cursor, without a total, instead of by page',
    }),
  ),
  cursor: Type.Optional(
    Type.String({ description: 'From the Link header of the previous response' }),
  ),
})

const audit: FastifyPluginAsyncTypebox = async (app) => {
  const { readDb } = app

  app.get(
    path,
    {
      config: { minimumRole: 'support' },
      schema: {
        summary: 'List audit log entries, newest first',
        tags: ['admin'],
        querystring: Query,
        response: { 200: Entries, ...ErrorResponses },
      },
    },
    async ({ query }, reply) => {
      const page = readPage(query)
      const { search, ...filter } = readAuditFilter(query)
      const isFiltered = Object.values(filter).some((value) => value !== undefined)
      if (query.limit || query.cursor || isFiltered) return pageAfter(query, reply)
      const offset = (page.number - 1) * page.size
      const rows = await listAuditEntries(readDb, search, { offset, size: page.size })
      const hasNext = rows.length > page.size
      const isCounted = !hasNext && (rows.length > 0 || page.number === 1)
      const total = isCounted ? { count: offset + rows.length, exact: true } : await count(search)
      reply.headers(paginationHeaders(path, query, page, { total, hasNext }))
      return rows.slice(0, page.size).map(toEntry)
    },
  )

  async function pageAfter(query: Static<typeof Query>, reply: FastifyReply) {
    const size = readLimit(query.limit)
    const filter = { ...readAuditFilter(query), after: readRowCursor(query.cursor) }
    const rows = await listFilteredEntries(readDb, filter, size)
    const last = rows.length > size ? rows[size - 1] : undefined
    if (last) {
      const cursor = toRowCursor({ microseconds: last.place, id: last.id })
      reply.header('link', `<${linkTarget(path, { ...query, cursor })}>; rel="next"`)
    }
    return rows.slice(0, size).map(toEntry)
  }

  async function count(search: AuditQuery | undefined) {
    const { counted, estimated } = await countAuditEntries(readDb, search)
    if (counted <= exactCountLimit) return { count: counted, exact: true }
    // The number of matches would require a scan of the whole log.
    return { count: search ? counted : Math.max(counted, estimated ?? 0), exact: false }
  }
}

function toEntry({ id, payload, created_at, ip_address }: Source) {
  const createdAt = (created_at ?? new Date(0)).toISOString()
  return { id, payload: { ...payload }, created_at: createdAt, ip_address }
}

export default audit
