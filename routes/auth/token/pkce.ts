import type { FastifyInstance, FastifyRequest } from 'fastify'

import type { Trx } from '../../../db/core/database.ts'
import {
  consumeFlowState,
  type FlowStateRow,
  findFlowStateByCode,
} from '../../../db/flows/flow-states.ts'
import { findSamlLoginOfFlow, insertSamlLogin } from '../../../db/saml/logins.ts'
import { isBanned } from '../../../db/users/users.ts'
import { createAuditEntry, recordAudit } from '../../../modules/audit/index.ts'
import {
  decryptProviderTokens,
  findIssuedSession,
  getFlowMethod,
  isVerifierValid,
  rememberConsumedCode,
} from '../../../modules/flows/index.ts'
import { createSession, revokeSession, toTokenResponse } from '../../../modules/sessions/index.ts'
import { lockAndLoadUser } from '../../../modules/users/index.ts'
import {
  badCodeVerifier,
  flowStateExpired,
  flowStateNotFound,
  userBanned,
  validationFailed,
} from '../../../schemas/errors.ts'
import type { Session } from '../../../schemas/session.ts'
import type { TokenRequest } from '../../../schemas/token-request.ts'

interface Presented {
  code: string
  verifier: string
}

/**
 * Exchanges an authorization code with its verifier (RFC 7636 §4.5); a wrong verifier does not consume the code. A code
 * is single use: its reuse with the verifier revokes the issued session (RFC 6749 §4.1.2).
 */
export function pkceGrant(app: FastifyInstance) {
  const { db } = app

  return async (
    { auth_code: code, code_verifier: verifier }: TokenRequest,
    request: FastifyRequest,
    now: Date,
  ): Promise<Session> => {
    if (!code || !verifier) {
      throw validationFailed(
        'invalid request: both auth code and code verifier should be non-empty',
      )
    }
    const presented = { code, verifier }
    const exchanged = await db.transaction().execute(async (trx) => {
      const done = await exchange(app, trx, presented, request, now)
      // The revocation must be committed before the request is rejected.
      if (!done) await revokeIssued(app, trx, presented, request, now)
      return done
    })
    if (!exchanged) throw flowStateNotFound()
    const { opened, flow } = exchanged
    return {
      ...(await toTokenResponse(app, opened, now)),
      ...decryptProviderTokens(app, flow),
    }
  }
}

/** Undefined for an unknown or consumed code. Throws flow_state_expired, bad_code_verifier or user_banned. */
async function exchange(
  app: FastifyInstance,
  trx: Trx,
  { code, verifier }: Presented,
  { clientInfo, clientIp }: FastifyRequest,
  now: Date,
) {
  const flow = await findFlowStateByCode(trx, code)
  if (!flow?.user_id) return undefined
  if (isExpired(app.config, flow, now)) throw flowStateExpired()
  if (!isVerifierValid(flow, verifier)) throw badCodeVerifier()
  // The user is locked before the flow, as in a session revocation, to prevent deadlocks.
  const user = await lockAndLoadUser(trx, flow.user_id)
  if (!user || user.deleted_at) return undefined
  if (isBanned(user, now)) throw userBanned(403)
  const method = getFlowMethod(flow)
  // Read before the flow is deleted, which deletes it too.
  const login = method === 'sso/saml' ? await findSamlLoginOfFlow(trx, flow.id) : undefined
  if (!(await consumeFlowState(trx, flow))) return undefined
  const entry = createAuditEntry(app.audit, 'login', user, clientIp, {
    provider: flow.provider_type,
  })
  const authentication = {
    method,
    clientInfo,
    audit: entry,
    notAfter: login?.session_end ?? undefined,
  }
  const opened = await createSession(app, trx, user, authentication, now)
  const { session_id } = opened.facts.session
  if (login) await insertSamlLogin(trx, { ...login, flow_id: null, session_id })
  await rememberConsumedCode(trx, flow, session_id, now)
  return { opened, flow }
}

async function revokeIssued(
  app: FastifyInstance,
  trx: Trx,
  { code, verifier }: Presented,
  { clientIp: ip }: FastifyRequest,
  now: Date,
): Promise<void> {
  const issued = await findIssuedSession(trx, code, verifier)
  if (!issued) return
  const { userId, sessionId } = issued
  const user = await lockAndLoadUser(trx, userId)
  if (!user || !(await revokeSession(app, trx, userId, sessionId, now))) return
  const traits = { session_id: sessionId, reason: 'authorization code reused' }
  await recordAudit(app.audit, trx, 'token_revoked', user, { ip, now, traits })
}

/** The lifetime begins when the code is issued: the user may open the email late. */
function isExpired(
  config: FastifyInstance['config'],
  { auth_code_issued_at }: FlowStateRow,
  now: Date,
): boolean {
  const lifetimeMs = config.AUTH_EXTERNAL_FLOW_STATE_EXPIRY_DURATION * 1000
  return now.getTime() - (auth_code_issued_at?.getTime() ?? 0) > lifetimeMs
}
