/** The authorization code grant (RFC 6749 §4.1.3): exchanges a code for a session of the client. */
import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../../db/core/database.ts'
import {
  consumeAuthorization,
  findAuthorizationByCode,
  lockAuthorizationByCode,
  type StoredAuthorization,
} from '../../../db/oauth-server/authorizations.ts'
import { findApprovingFactor } from '../../../db/oauth-server/sessions.ts'
import type { StoredAuthentication } from '../../../db/tables/oauth-server.ts'
import { isBanned, type UserRecord } from '../../../db/users/users.ts'
import { type ApiError, invalidGrant, oauthInvalidRequest } from '../../../schemas/errors.ts'
import { recordAudit } from '../../audit/index.ts'
import { isVerifierValid } from '../../flows/index.ts'
import { revokeSession } from '../../sessions/index.ts'
import { lockAndLoadUser } from '../../users/index.ts'
import { type Client, hashClientSecret } from '../clients/client.ts'
import {
  approvalIsOver,
  issueTokens,
  type Origin,
  openClientSession,
  type TokenResponse,
} from './issue.ts'

interface CodeRequest {
  code: string | undefined
  redirectUri: string | undefined
  codeVerifier: string | undefined
  resources: readonly string[]
}

/** Throws invalid_request, invalid_grant, invalid_target, token_too_large or HookError. */
export async function exchangeCode(
  app: FastifyInstance,
  client: Client,
  codeRequest: CodeRequest,
  origin: Origin,
  now: Date,
): Promise<TokenResponse> {
  if (!codeRequest.code) throw oauthInvalidRequest('code is missing')
  const hash = hashClientSecret(codeRequest.code)
  const found = await findAuthorizationByCode(app.db, hash)
  if (!found?.user_id) throw invalidGrant('The authorization code is unknown')
  const { user_id: userId } = found
  const outcome = await app.db.transaction().execute(async (trx) => {
    // The user is locked before the code, as in a revocation of sessions, to prevent deadlocks.
    const user = await lockAndLoadUser(trx, userId)
    const request = await lockAuthorizationByCode(trx, hash)
    if (!user || !request) return invalidGrant('The authorization code is unknown')
    const mismatch = findMismatch({ request, client, codeRequest })
    if (mismatch) return mismatch
    if (request.consumed_at) return revokeReplayed(app, trx, request, user, origin, now)
    const end = findEnd({ request, user }, now)
    if (end) return end
    const approval = await findApprovingFactor(trx, toSignIn(request))
    if (!approval) return invalidGrant(approvalIsOver)
    return exchange(app, trx, { request, client, user, codeRequest }, approval, origin, now)
  })
  if ('errorCode' in outcome) throw outcome
  return issueTokens(app, outcome, now)
}

interface Exchange {
  request: StoredAuthorization
  client: Client
  user: UserRecord
  codeRequest: CodeRequest
}

/**
 * Returns why the code does not belong to the presenting client. It has no effect on the code or its tokens, so that a
 * third party with a leaked code ends no session.
 */
function findMismatch({
  request,
  client,
  codeRequest,
}: Omit<Exchange, 'user'>): ApiError | undefined {
  if (request.client_id !== client.id) return invalidGrant('The code was issued to another client')
  if (codeRequest.redirectUri !== undefined && codeRequest.redirectUri !== request.redirect_uri) {
    return invalidGrant('redirect_uri differs from the authorization request')
  }
  const verifier = codeRequest.codeVerifier
  // A verifier without a challenge: the request was replaced by one without PKCE (RFC 9700 §2.1.1).
  if (Boolean(verifier) !== Boolean(request.code_challenge)) {
    return invalidGrant(
      verifier ? 'The authorization request had no code_challenge' : 'code_verifier is missing',
    )
  }
  return verifier && !isVerifierValid(request, verifier)
    ? invalidGrant('code_verifier is wrong')
    : undefined
}

function findEnd(
  { request, user }: Pick<Exchange, 'request' | 'user'>,
  now: Date,
): ApiError | undefined {
  if (!request.code_expires_at || request.code_expires_at <= now) {
    return invalidGrant('The authorization code has expired')
  }
  return user.deleted_at || isBanned(user, now)
    ? invalidGrant('The account of the user was banned or deleted')
    : undefined
}

async function exchange(
  app: FastifyInstance,
  trx: Trx,
  { request, client, user, codeRequest }: Exchange,
  { factor_id: factorId }: { factor_id: string | null },
  origin: Origin,
  now: Date,
) {
  const grant = {
    client,
    user,
    scope: request.scope,
    granted: request.parameters?.resources ?? [],
    resources: codeRequest.resources,
    signIn: toSignIn(request),
    factorId,
    nonce: request.nonce,
    idTokenNames: request.parameters?.id_token_claims ?? [],
    userinfoNames: request.parameters?.userinfo_claims ?? [],
    method: 'oauth_provider/authorization_code' as const,
  }
  const opened = await openClientSession(app, trx, grant, origin, now)
  await consumeAuthorization(trx, request.id, opened.sessionId, now)
  return opened
}

function toSignIn({
  session_id,
  auth_time,
  aal,
  amr,
  created_at,
}: StoredAuthorization): StoredAuthentication {
  return { session_id, auth_time: auth_time ?? created_at, aal: aal ?? 'aal1', amr: amr ?? [] }
}

/** A replayed code may have been stolen: the session issued for it is revoked (RFC 6749 §4.1.2). */
async function revokeReplayed(
  app: FastifyInstance,
  trx: Trx,
  { issued_session_id: sessionId }: StoredAuthorization,
  user: UserRecord,
  { ip }: Origin,
  now: Date,
): Promise<ApiError> {
  if (sessionId && (await revokeSession(app, trx, user.id, sessionId, now))) {
    const traits = { session_id: sessionId, reason: 'authorization code reused' }
    await recordAudit(app.audit, trx, 'token_revoked', user, { ip, now, traits })
  }
  return invalidGrant('The authorization code was already used')
}
