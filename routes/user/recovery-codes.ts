/** Recovery codes of the current user. Paths with an underscore are earlier names of the same endpoints. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'

import { findRecoveryCodeSet } from '../../db/factors/recovery-codes.ts'
import type { AuditContext } from '../../modules/audit/index.ts'
import { notifyOfFailure } from '../../modules/credentials/index.ts'
import {
  attemptRecovery,
  callMfaVerificationHook,
  completeRecovery,
  generateRecoveryCodes,
  precomputeRecoveryClaims,
  prepareRecoveryCodes,
  type RecoveryAttempt,
  readRecoveryCode,
  regenerateRecoveryCodes,
  releaseRecovery,
  removeRecoveryCodes,
  requireRecoveryEnroll,
  requireRecoveryVerify,
} from '../../modules/factors/index.ts'
import type { SessionAuth } from '../../plugins/security/bearer-auth/index.ts'
import { needed } from '../../schemas/documented.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { HookError, recoveryCodesNotFound, recoveryCodeWrong } from '../../schemas/errors.ts'
import { RemainingCodes } from '../../schemas/recovery-codes.ts'
import { Session } from '../../schemas/session.ts'

const Status = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'Of the factor' }),
    type: Type.Literal('recovery_code'),
    total: Type.Integer({ description: 'Codes of the set, used or not' }),
    ...RemainingCodes.properties,
  },
  { title: 'RecoveryCodeStatus' },
)

const recoveryCodeStatus: FastifyPluginAsyncTypebox = async (app) => {
  const { bearerAuth, db } = app
  const config = { rejectsImpersonation: false, isOpenWithoutFactor: true } as const

  app.get(
    '/factors/recovery-codes',
    {
      config,
      schema: {
        summary: 'Get the number of recovery codes',
        tags: ['mfa'],
        response: { 200: Status, ...ErrorResponses },
      },
    },
    async (request) => {
      const set = await findRecoveryCodeSet(db, bearerAuth.getSessionAuth(request).user.id)
      if (!set) throw recoveryCodesNotFound()
      const { factorId: id, total, remaining } = set
      return { id, type: 'recovery_code' as const, total, remaining }
    },
  )

  app.get(
    '/factors/recovery_codes',
    {
      config,
      schema: {
        summary: 'Get the number of unused recovery codes',
        tags: ['mfa'],
        response: { 200: RemainingCodes, ...ErrorResponses },
      },
    },
    async (request) => {
      const set = await findRecoveryCodeSet(db, bearerAuth.getAuth(request).user.id)
      return { remaining: set?.remaining ?? 0 }
    },
  )
}

const GenerationBody = Type.Union([
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
  body: GenerationBody,
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

const recoveryCodeGeneration: FastifyPluginAsyncTypebox = async (app) => {
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

const VerificationBody = Type.Object({ code: Type.Optional(Type.String(needed)) })

const verificationSchema = {
  summary: 'Verify a recovery code instead of a factor',
  description:
    'The code is consumed. The session continues at aal2 with new tokens; other sessions of the user below aal2 are revoked.',
  tags: ['mfa'],
  body: VerificationBody,
  response: { 200: Session, ...ErrorResponses },
}

const recoveryCodeVerification: FastifyPluginAsyncTypebox = async (app) => {
  const { bearerAuth, db, rateLimits } = app

  for (const path of ['/factors/recovery-codes', '/factors/recovery_codes']) {
    app.post(
      `${path}/verify`,
      {
        config: {
          rejectsImpersonation: true,
          rateLimit: rateLimits.mfa,
          isOpenWithoutFactor: true,
        },
        // Before the body is read: a disabled feature returns its error for every body.
        preParsing: async () => requireRecoveryVerify(app),
        schema: verificationSchema,
      },
      async (request) => {
        const at = { ip: request.clientIp, now: new Date() }
        const auth = bearerAuth.getSessionAuth(request)
        const code = readRecoveryCode(request.body.code)
        const attempt = await attemptRecovery(app, db, auth, code, at.now)
        const raised = await complete(auth, attempt, at).catch(async (error) => {
          // A wrong code counts even if the hook failed. One that the hook rejected does not, as in GoTrue.
          const counts = attempt.codeId === undefined && error instanceof HookError
          if (!counts) await releaseRecovery(app, db, attempt)
          throw error
        })
        if (raised) return raised
        const failed = {
          attempt: { dayFailures: attempt.failures, isLastOfDay: false },
          isFactor: true,
        }
        await notifyOfFailure(app, db, auth.user, failed, at.now)
        throw recoveryCodeWrong()
      },
    )
  }

  /** The session at aal2; undefined for a wrong code. Throws the hooks' rejections. */
  async function complete(
    auth: SessionAuth,
    { codeId, factor }: RecoveryAttempt,
    at: AuditContext,
  ): Promise<Session | undefined> {
    const isRight = codeId !== undefined
    const rejection = await callMfaVerificationHook(app, db, factor, { isRight, ip: at.ip })
    if (rejection) throw rejection
    if (!isRight) return undefined
    const permit = await precomputeRecoveryClaims(app, auth, at)
    return db.transaction().execute(async (trx) => {
      const current = await bearerAuth.reauthorizeSession(trx, auth, at.now)
      return completeRecovery(app, trx, current, { codeId, factor, permit }, at)
    })
  }
}

const Removed = Type.Object(
  { id: Type.String({ format: 'uuid', description: 'Of the factor' }) },
  { title: 'RecoveryCodesRemoved' },
)

const recoveryCodeRemoval: FastifyPluginAsyncTypebox = async (app) => {
  const { bearerAuth, db } = app

  app.delete(
    '/factors/recovery-codes',
    {
      config: { rejectsImpersonation: true },
      schema: {
        summary: 'Delete all recovery codes',
        description:
          'Requires a session at aal2. Sessions that one of them stepped up to aal2 return to aal1.',
        tags: ['mfa'],
        response: { 200: Removed, ...ErrorResponses },
      },
    },
    async (request) => {
      const auth = bearerAuth.getSessionAuth(request)
      const at = { ip: request.clientIp, now: new Date() }
      const id = await db.transaction().execute(async (trx) => {
        const current = await bearerAuth.reauthorizeSession(trx, auth, at.now)
        return removeRecoveryCodes(app, trx, current, at)
      })
      return { id }
    },
  )
}

export const recoveryCodeRoutes = {
  recoveryCodeStatus,
  recoveryCodeGeneration,
  recoveryCodeVerification,
  recoveryCodeRemoval,
}
