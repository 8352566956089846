import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'

import {
  generateRecoveryCodes,
  prepareRecoveryCodes,
  regenerateRecoveryCodes,
  requireRecoveryEnroll,
} from '../../../modules/factors/index.ts'
import { ErrorResponses } from '../../../schemas/error.ts'

const Body = Type.Union([
  Type.Object({ friendly_name: Type.Optional(Type.String({ maxLength: 255 })) }),
  Type.Null(),
])

const Codes = Type.Object({ codes: Type.Array(Type.String()) }, { title: 'RecoveryCodes' })

const CodeSet = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'Of the factor' }),
    type: Type.Literal('recovery_code'),
    friendly_name: Type.String(),
    total: Type.Integer(),
    ...Codes.properties,
  },
  { title: 'RecoveryCodeSet' },
)

const createSchema = {
  summary: 'Create recovery codes if the user has none',
  description:
    'Requires a session at aal2 and another verified factor. The codes are only shown now.',
  tags: ['mfa'],
  body: Body,
  response: { 200: CodeSet, ...ErrorResponses },
}

const replaceSchema = {
  summary: 'Replace all recovery codes',
  description:
    'Requires a session at aal2. The codes are only shown now, and earlier ones become invalid.',
  tags: ['mfa'],
  response: { 200: CodeSet, ...ErrorResponses },
}

const createOrReplaceSchema = {
  summary: 'Create or replace recovery codes',
  description:
    'Requires a session at aal2. The codes are only shown now, and earlier ones become invalid.',
  tags: ['mfa'],
  response: { 200: Codes, ...ErrorResponses },
}

const generate: FastifyPluginAsyncTypebox = async (app) => {
  const { bearerAuth } = app
  const config = { rejectsImpersonation: true } as const
  // Before the body is read: a disabled feature returns its error for every body.
  const preParsing = async () => requireRecoveryEnroll(app)

  app.post(
    '/factors/recovery-codes',
    { config, preParsing, schema: createSchema },
    async (request) => toSet(await make(app, request, request.body?.friendly_name)),
  )

  app.post(
    '/factors/recovery-codes/regenerate',
    { config, preParsing, schema: replaceSchema },
    async (request) => toSet(await replaceCodes(app, request)),
  )

  app.post(
    '/factors/recovery_codes',
    { config, preParsing, schema: createOrReplaceSchema },
    async (request) => {
      const { factors: all } = bearerAuth.getSessionAuth(request).user
      const hasCodes = all.some(({ factor_type }) => factor_type === 'recovery_code')
      const { codes } = await (hasCodes ? replaceCodes(app, request) : make(app, request))
      return { codes }
    },
  )
}

async function make(app: FastifyInstance, request: FastifyRequest, name?: string) {
  const auth = app.bearerAuth.getSessionAuth(request)
  const at = { ip: request.clientIp, now: new Date() }
  const prepared = await prepareRecoveryCodes(app, auth, 'generate', at.now)
  return app.db.transaction().execute(async (trx) => {
    const current = await app.bearerAuth.reauthorizeSession(trx, auth, at.now)
    return generateRecoveryCodes(app, trx, current, { ...prepared, name }, at)
  })
}

async function replaceCodes(app: FastifyInstance, request: FastifyRequest) {
  const auth = app.bearerAuth.getSessionAuth(request)
  const at = { ip: request.clientIp, now: new Date() }
  const prepared = await prepareRecoveryCodes(app, auth, 'regenerate', at.now)
  return app.db.transaction().execute(async (trx) => {
    const current = await app.bearerAuth.reauthorizeSession(trx, auth, at.now)
    return regenerateRecoveryCodes(app, trx, current, prepared, at)
  })
}

function toSet({ codes, ...factor }: { id: string; friendly_name: string; codes: string[] }) {
  return { ...factor, type: 'recovery_code' as const, total: codes.length, codes }
}

export default generate
