import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { tuneBulkLoad } from '../../../../db/users/bulk.ts'
import { recordAdminAction } from '../../../../modules/audit/index.ts'
import { type ImportedText, importText } from '../../../../modules/user-import/index.ts'
import { ErrorResponses } from '../../../../schemas/error.ts'
import { validationFailed } from '../../../../schemas/errors.ts'
import { StringEnum } from '../../../../schemas/values/choices.ts'

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
  dry_run: Type.Boolean(),
})

const maxBytes = 10_485_760
const maxRejections = 1_000

class RolledBack extends Error {}

const importUsers: FastifyPluginAsyncTypebox = async (fastify) => {
  const { audit, bearerAuth, config, db } = fastify
  // Only this endpoint accepts a file instead of JSON.
  for (const type of ['text/csv', 'application/x-ndjson']) {
    fastify.addContentTypeParser(type, { parseAs: 'string' }, (_request, text, done) =>
      done(null, text),
    )
  }

  fastify.post(
    '/admin/users/import',
    {
      bodyLimit: maxBytes,
      schema: {
        summary: 'Import users from CSV or NDJSON',
        description:
          'Rows as in docs/import.md, with password hashes instead of passwords; at most 10 MiB. For larger files: npm run users -- import.',
        tags: ['admin'],
        consumes: ['text/csv', 'application/x-ndjson'],
        querystring: Query,
        body: Type.String(),
        response: { 200: Outcome, ...ErrorResponses },
      },
    },
    async (request) => {
      const now = new Date()
      const dryRun = request.query.dry_run === 'true'
      const format = request.headers['content-type']?.startsWith('text/csv') ? 'csv' : 'ndjson'
      const defaults = { aud: request.audience, role: config.AUTH_JWT_DEFAULT_GROUP_NAME }
      const checkRole = (role: string) => bearerAuth.grantBlocker(request, role)
      const input = { text: request.body, format, defaults, checkRole } as const
      let outcome: ImportedText = { total: 0, accepted: 0, rejected: [] }
      try {
        await db.transaction().execute(async (trx) => {
          await bearerAuth.reauthorizeAdmin(trx, request, now)
          await tuneBulkLoad(trx)
          outcome = await importText(trx, input, now)
          if (dryRun) throw new RolledBack()
          const { accepted: imported, rejected } = outcome
          const traits = { now, imported, refused: rejected.length }
          await recordAdminAction(audit, trx, 'users_imported', request, traits)
        })
      } catch (error) {
        if (isBrokenCsv(error)) throw validationFailed(`The CSV cannot be read: ${error.message}`)
        if (!(error instanceof RolledBack)) throw error
      }
      return { ...outcome, rejected: outcome.rejected.slice(0, maxRejections), dry_run: dryRun }
    },
  )
}

function isBrokenCsv(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('CSV_')
}

export default importUsers
