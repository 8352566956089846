import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import type { AuditContext } from '../../../modules/audit/index.ts'
import { notifyOfFailure } from '../../../modules/credentials/index.ts'
import {
  attemptRecovery,
  callMfaVerificationHook,
  completeRecovery,
  precomputeRecoveryClaims,
  type RecoveryAttempt,
  readRecoveryCode,
  releaseRecovery,
  requireRecoveryVerify,
} from '../../../modules/factors/index.ts'
import type { SessionAuth } from '../../../plugins/security/bearer-auth/index.ts'
import { needed } from '../../../schemas/documented.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { HookError, recoveryCodeWrong } from '../../../schemas/errors.ts'
import { Session } from '../../../schemas/session.ts'

const Body = Type.Object({ code: Type.Optional(Type.String(needed)) })

const schema = {
  summary: 'Verify a recovery code instead of a factor',
  description:
    'The code is consumed. The session continues at aal2 with new tokens; other sessions of the user below aal2 are revoked.',
  tags: ['mfa'],
  body: Body,
  response: { 200: Session, ...ErrorResponses },
}

const verify: FastifyPluginAsyncTypebox = async (app) => {
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
        schema,
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

export default verify
