/** prompt=none: a response without a page (OpenID Connect Core §3.1.2.6). */
import type { FastifyInstance } from 'fastify'
import { jwtVerify } from 'jose'

import {
  closeAuthorization,
  type StoredAuthorization,
} from '../../../db/oauth-server/authorizations.ts'
import type { StoredAuthentication } from '../../../db/tables/oauth-server.ts'
import type { AuthContext } from '../../../plugins/security/bearer-auth/index.ts'
import { isErrorWithCode } from '../../../schemas/errors.ts'
import { type Answering, isConsented, issueCode, openRequest } from './answer.ts'
import { findMissing } from './demands.ts'
import { type Denial, redirectTo } from './redirect.ts'

/** The redirect URI with a code, or with the error for what is missing. */
export async function respondSilently(
  app: FastifyInstance,
  stored: StoredAuthorization,
  answering: Answering | undefined,
  now: Date,
): Promise<string> {
  const missing = answering && findMissing(stored, answering)
  const isRequestedUser = answering && (await isHinted(app, stored, answering.user.id))
  if (!answering || missing === 'sign_in' || !isRequestedUser) {
    return reject(app, stored, 'login_required')
  }
  if (missing) return reject(app, stored, 'interaction_required')
  try {
    const url = await app.db.transaction().execute(async (trx) => {
      const opened = await openRequest(trx, stored.authorization_id, answering, now)
      if (!(await isConsented(trx, opened, answering))) return undefined
      return issueCode(app, trx, opened.request, answering.signIn, now)
    })
    return url ?? (await reject(app, stored, 'consent_required'))
  } catch (error) {
    // The user signed out meanwhile.
    if (!isErrorWithCode(error, 'session_not_found')) throw error
    return reject(app, stored, 'login_required')
  }
}

async function reject(
  app: FastifyInstance,
  request: StoredAuthorization,
  error: Denial,
): Promise<string> {
  await app.db.transaction().execute((trx) => closeAuthorization(trx, request.id, 'denied'))
  return redirectTo(app, request, { error })
}

/** Whether the user is that of `id_token_hint`; an expired token is accepted. */
async function isHinted(
  app: FastifyInstance,
  { parameters }: StoredAuthorization,
  userId: string,
): Promise<boolean> {
  const hint = parameters?.id_token_hint
  return hint === undefined || (await readIdTokenSubject(app, hint)) === userId
}

/** The user of an ID token issued by this server, expired or not. */
export async function readIdTokenSubject(
  { jwt }: FastifyInstance,
  idToken: string,
): Promise<string | undefined> {
  try {
    const { payload } = await jwtVerify(
      idToken,
      ({ kid, alg }) => {
        const key = jwt.keys.ring.find(kid, alg, new Date())
        if (!key || key.alg !== alg) throw new Error('the key is unknown')
        return key.key
      },
      { issuer: jwt.issuer, currentDate: new Date(0) },
    )
    return payload.sub
  } catch {
    return undefined
  }
}

/**
 * The authentication of a token's session. A token without a session was signed by the operator: its own time counts.
 */
export function toStoredAuthentication(
  { session, claims }: AuthContext,
  now: Date,
): StoredAuthentication {
  if (!session) {
    const issuedAt = claims.iat === undefined ? now : new Date(claims.iat * 1000)
    return { session_id: null, auth_time: issuedAt, aal: 'aal1', amr: [] }
  }
  return {
    session_id: session.session_id,
    auth_time: session.session_created_at ?? now,
    aal: session.aal ?? 'aal1',
    amr: session.amr.map(({ method }) => method),
  }
}
