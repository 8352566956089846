import { Readable } from 'node:stream'

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { recordAdminAction } from '../../../../modules/audit/index.ts'
import { headerRow, renderRows } from '../../../../modules/user-import/index.ts'
import { listUsersAfter, readUserSearch } from '../../../../modules/users/index.ts'
import { downloadHeaders, ExportContent, ExportFormat } from '../../../../schemas/console/export.ts'
import { readStateFilter, UserFilterQuery } from '../../../../schemas/console/user-filter.ts'
import { ErrorResponses } from '../../../../schemas/error.ts'
import type { User } from '../../../../schemas/user.ts'

const Query = Type.Object({
  ...UserFilterQuery,
  q: Type.Optional(Type.String({ maxLength: 255 })),
  sort: Type.Optional(Type.String()),
  format: ExportFormat,
})

const columns = [
  'id',
  'email',
  'phone',
  'role',
  'aud',
  'created_at',
  'updated_at',
  'last_sign_in_at',
  'email_confirmed_at',
  'phone_confirmed_at',
  'invited_at',
  'banned_until',
  'deleted_at',
  'is_anonymous',
  'app_metadata',
  'user_metadata',
] as const satisfies (keyof User)[]

const pageSize = 1_000

const exportUsers: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, db } = app

  app.get(
    '/admin/users/export',
    {
      config: { minimumRole: 'operator' },
      schema: {
        summary: 'Download users as CSV or NDJSON',
        description:
          'With the filters of the list. Passwords, factors and identities are left out: npm run users -- export has them.',
        tags: ['admin'],
        querystring: Query,
        response: { 200: ExportContent, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      const now = new Date()
      const { format = 'csv', q, sort, ...filters } = request.query
      const filter = readStateFilter(filters)
      const { audience: aud } = request
      const search = q?.trim() ? await readUserSearch(app, q, aud) : undefined
      const direction = sort === 'created_at asc' ? ('asc' as const) : ('desc' as const)
      await db.transaction().execute(async (trx) => {
        await bearerAuth.reauthorizeAdmin(trx, request, now)
        const traits = { now, format, ...(q && { q }), ...filters }
        await recordAdminAction(audit, trx, 'users_exported', request, traits)
      })
      const listing = { aud, direction, search }
      async function* texts() {
        yield headerRow(columns, format)
        let cursor: string | undefined
        do {
          const page = await listUsersAfter(app, listing, cursor, pageSize, filter)
          const found: { users: User[] } = JSON.parse(page.body.toString())
          yield renderRows(found.users.map(toRow), columns, format)
          cursor = page.cursor
        } while (cursor)
      }
      return reply.headers(downloadHeaders('users', format)).send(Readable.from(texts()))
    },
  )
}

function toRow(user: User) {
  return Object.fromEntries(columns.map((name) => [name, user[name]]))
}

export default exportUsers
