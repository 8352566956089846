import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { tuneBulkLoad } from '../../../../db/users/bulk.ts'
import { recordPreparedImport } from '../../../../modules/access/index.ts'
import { recordAdminAction } from '../../../../modules/audit/index.ts'
import { type ImportedText, importText } from '../../../../modules/user-import/index.ts'
import { ErrorResponses } from '../../../../schemas/error.ts'
import { validationFailed } from '../../../../schemas/errors.ts'
import { StringEnum } from '../../../../schemas/values/choices.ts'

const File = Type.String()
const Query = Type.Object({
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

class RolledBack extends Error {}

/** A role on the server is told to the user and the owners, which a file of many users cannot be. */
const roleRejection = (role: string) =>
  `the role ${role} gives access to the admin API, which this endpoint does not import: import the user without it, and set it with PUT /admin/users/{user_id}`

const importUsers: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, config, db } = app
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
        querystring: Query,
        body: File,
        response: { 200: Outcome, ...ErrorResponses },
      },
    },
    async (request) => {
      const now = new Date()
      const dryRun = request.query.dry_run === 'true'
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
      const { total, leftOut } = outcome
      const accepted = outcome.accepted.length
      const rejected = outcome.rejected.slice(0, maxRejections)
      return { total, accepted, rejected, left_out: Object.fromEntries(leftOut), dry_run: dryRun }
    },
  )
}

function isBrokenCsv(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('CSV_')
}

export default importUsers
