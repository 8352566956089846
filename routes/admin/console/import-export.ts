/** Users as files: CSV or NDJSON. */
import { Readable } from 'node:stream'

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'

import { tuneBulkLoad } from '../../../db/users/bulk.ts'
import { recordPreparedImport } from '../../../modules/access/index.ts'
import { recordAdminAction } from '../../../modules/audit/index.ts'
import {
  headerRow,
  type ImportedText,
  importText,
  renderRows,
} from '../../../modules/user-import/index.ts'
import { listUsersAfter, readUserSearch } from '../../../modules/users/index.ts'
import { downloadHeaders, ExportContent, ExportFormat } from '../../../schemas/console/export.ts'
import { readStateFilter, UserFilterQuery } from '../../../schemas/console/user-filter.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { validationFailed } from '../../../schemas/errors.ts'
import type { User } from '../../../schemas/user.ts'
import { StringEnum } from '../../../schemas/values/choices.ts'

const File = Type.String()
const ImportQuery = Type.Object({
  dry_run: Type.Optional(
    StringEnum(['true', 'false'], { description: 'Validate only, without storing anything' }),
  ),
})

const Outcome = Type.Object({
  total: Type.Integer(),
  accepted: Type.Integer(),
  rejected: Type.Array(Type.Object({ line: Type.Integer(), reason: Type.String() }), {
    description: 'The first 1000 rejected rows',
  }),
  left_out: Type.Record(Type.String(), Type.Integer(), {
    description: 'Fields that are not stored, with the number of rows that have them',
  }),
  dry_run: Type.Boolean(),
})

const maxBytes = 10_485_760
const maxRejections = 1_000

const importUsers: FastifyPluginAsyncTypebox = async (app) => {
  // Only this endpoint accepts a file instead of JSON.
  for (const type of ['text/csv', 'application/x-ndjson']) {
    app.addContentTypeParser(type, { parseAs: 'string' }, (_request, text, done) =>
      done(null, text),
    )
  }

  app.post(
    '/admin/users/import',
    {
      bodyLimit: maxBytes,
      config: { minimumRole: 'operator', givesAccess: true },
      schema: {
        summary: 'Import users from CSV or NDJSON',
        description:
          'Rows as in docs/import.md, with password hashes instead of passwords; at most 10 MiB. Rows with a role of AUTH_JWT_ADMIN_ROLES are rejected. For them and for larger files: npm run users -- import.',
        tags: ['admin'],
        consumes: ['text/csv', 'application/x-ndjson'],
        querystring: ImportQuery,
        body: File,
        response: { 200: Outcome, ...ErrorResponses },
      },
    },
    async (request) => {
      const dryRun = request.query.dry_run === 'true'
      const { total, accepted, rejected, leftOut } = await importFile(app, request, dryRun)
      return {
        total,
        accepted: accepted.length,
        rejected: rejected.slice(0, maxRejections),
        left_out: Object.fromEntries(leftOut),
        dry_run: dryRun,
      }
    },
  )
}

/** Throws validation_failed for a CSV that cannot be read. */
async function importFile(
  app: FastifyInstance,
  request: FastifyRequest<{ Body: string }>,
  dryRun: boolean,
): Promise<ImportedText> {
  const { audit, bearerAuth, config, db } = app
  const now = new Date()
  const format = request.headers['content-type']?.startsWith('text/csv') ? 'csv' : 'ndjson'
  const defaults = { aud: request.audience, role: config.AUTH_JWT_DEFAULT_GROUP_NAME }
  const checkUser = ({ role }: { role: string }) =>
    bearerAuth.adminRoles.includes(role) ? roleRejection(role) : undefined
  const input = { text: request.body, format, defaults, checkUser } as const
  let outcome: ImportedText = { total: 0, accepted: [], rejected: [], leftOut: new Map() }
  try {
    await db.transaction().execute(async (trx) => {
      await bearerAuth.reauthorizeAdmin(trx, request, now)
      await tuneBulkLoad(trx)
      outcome = await importText(trx, input, now)
      if (dryRun) throw new RolledBack()
      const { accepted, rejected } = outcome
      await recordPreparedImport(trx, request, accepted, now)
      const traits = { now, imported: accepted.length, refused: rejected.length }
      await recordAdminAction(audit, trx, 'users_imported', request, traits)
    })
  } catch (error) {
    if (isBrokenCsv(error)) throw validationFailed(`The CSV cannot be read: ${error.message}`)
    if (!(error instanceof RolledBack)) throw error
  }
  return outcome
}

class RolledBack extends Error {}

/** A role on the server is told to the user and the owners, which a file of many users cannot be. */
const roleRejection = (role: string) =>
  `the role ${role} gives access to the admin API, which this endpoint does not import: import the user without it, and set it with PUT /admin/users/{user_id}`

function isBrokenCsv(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('CSV_')
}

const ExportQuery = Type.Object({
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
        querystring: ExportQuery,
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

export const importExportRoutes = { importUsers, exportUsers }
