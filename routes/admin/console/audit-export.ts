import { Readable } from 'node:stream'

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { listFilteredEntries } from '../../../db/audit/audit-log-entries.ts'
import { recordAdminAction } from '../../../modules/audit/index.ts'
import { headerRow, renderRows } from '../../../modules/user-import/index.ts'
import { AuditFilterQuery, readAuditFilter } from '../../../schemas/console/audit-filter.ts'
import { downloadHeaders, ExportContent, ExportFormat } from '../../../schemas/console/export.ts'
import { ErrorResponses } from '../../../schemas/error.ts'

const Query = Type.Object({ ...AuditFilterQuery, format: ExportFormat })

const columns = [
  'id',
  'created_at',
  'action',
  'log_type',
  'actor_id',
  'actor_username',
  'actor_name',
  'ip_address',
  'traits',
]

const pageSize = 1_000

const auditExport: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, db, readDb } = app

  app.get(
    '/admin/audit/export',
    {
      config: { minimumRole: 'operator' },
      schema: {
        summary: 'Download the audit log as CSV or NDJSON, newest first',
        tags: ['admin'],
        querystring: Query,
        response: { 200: ExportContent, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      const now = new Date()
      const { format = 'csv', ...query } = request.query
      const filter = readAuditFilter(query)
      await db.transaction().execute(async (trx) => {
        await bearerAuth.reauthorizeAdmin(trx, request, now)
        await recordAdminAction(audit, trx, 'audit_exported', request, { now, format, ...query })
      })
      async function* texts() {
        yield headerRow(columns, format)
        let after: { microseconds: number; id: string } | undefined
        do {
          const rows = await listFilteredEntries(readDb, { ...filter, after }, pageSize)
          const page = rows.slice(0, pageSize)
          yield renderRows(page.map(toRow), columns, format)
          const last = rows.length > pageSize ? page.at(-1) : undefined
          after = last && { microseconds: last.place, id: last.id }
        } while (after)
      }
      return reply.headers(downloadHeaders('audit', format)).send(Readable.from(texts()))
    },
  )
}

type Entry = Awaited<ReturnType<typeof listFilteredEntries>>[number]

function toRow({ id, created_at, ip_address, payload }: Entry) {
  const { action, log_type, actor_id, actor_username, actor_name, traits } = payload
  return {
    id,
    created_at: created_at?.toISOString() ?? '',
    action,
    log_type,
    actor_id,
    actor_username,
    actor_name: actor_name ?? '',
    ip_address,
    traits: traits ?? {},
  }
}

export default auditExport
