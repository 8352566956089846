import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { type AuditSearch, countAuditEntries, listAuditEntries } from '../../db/audit-search.ts'
import { exactCountLimit } from '../../db/user-search.ts'
import { validationFailed } from '../../errors.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { PageQuery, pageHeaders, readPage } from '../../schemas/pagination.ts'
import { Timestamp } from '../../schemas/timestamp.ts'

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

const Query = Type.Object({
  ...PageQuery,
  query: Type.Optional(
    Type.String({
      maxLength: 255,
      description: 'author:, action: or type: and part of what stands there',
    }),
  ),
})

const audit: FastifyPluginAsyncTypebox = async (fastify) => {
  const { db } = fastify

  fastify.get(
    path,
    {
      schema: {
        summary: 'The audit trail, newest first',
        tags: ['admin'],
        querystring: Query,
        response: { 200: Entries, ...ErrorResponses },
      },
    },
    async ({ query }, reply) => {
      const page = readPage(query)
      const search = readSearch(query.query)
      const offset = (page.number - 1) * page.size
      const rows = await listAuditEntries(db, search, { offset, size: page.size })
      const hasNext = rows.length > page.size
      const isCounted = !hasNext && (rows.length > 0 || page.number === 1)
      const total = isCounted ? { count: offset + rows.length, exact: true } : await count(search)
      reply.headers(pageHeaders(path, query, page, { total, hasNext }))
      return rows.slice(0, page.size).map(({ created_at, payload, ...entry }) => ({
        ...entry,
        payload: { ...payload },
        created_at: (created_at ?? new Date(0)).toISOString(),
      }))
    },
  )

  async function count(search: AuditSearch | undefined) {
    const { counted, estimated } = await countAuditEntries(db, search)
    if (counted <= exactCountLimit) return { count: counted, exact: true }
    // What part of the whole trail a search finds, nobody knows without reading all of it.
    return { count: search ? counted : Math.max(counted, estimated ?? 0), exact: false }
  }
}

function readSearch(query: string | undefined): AuditSearch | undefined {
  if (!query) return undefined
  const [, scope, text = ''] = /^(author|action|type):(.*)$/s.exec(query) ?? []
  if (scope !== 'author' && scope !== 'action' && scope !== 'type') {
    throw validationFailed('query must be author:, action: or type: followed by a text')
  }
  return { scope, text: text.trim() }
}

export default audit
