/** The user who decides about an authorization request, and how they were authenticated. */
import type { StoredAuthentication } from '../../../db/tables/oauth-server.ts'
import type { AuthContext } from '../../../plugins/security/bearer-auth/index.ts'

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
