/** The claims parameter (OpenID Connect Core §5.5): individual claims for the ID token and the userinfo endpoint. */
import type { OauthRequestParameters } from '../../../db/tables/oauth-server.ts'
import { isRecord } from '../../../schemas/values/record.ts'
import { scopeOfClaim } from '../tokens/claims.ts'
import { AuthorizationError } from './sent.ts'

type RequestedClaims = Pick<OauthRequestParameters, 'id_token_claims' | 'userinfo_claims' | 'sub'>

/** Parses the parameter. Throws AuthorizationError. */
export function parseClaims(claims: string | undefined): Record<string, unknown> {
  if (claims === undefined) return {}
  try {
    const parsed: unknown = JSON.parse(claims)
    if (isRecord(parsed)) return parsed
  } catch {
    // Reported below.
  }
  throw new AuthorizationError('invalid_request', 'claims must be a JSON object')
}

/** Claims of scopes that the client may not request are ignored, like unknown claims. */
export function readClaims(
  claims: Record<string, unknown>,
  allowedScopes: readonly string[],
): RequestedClaims {
  const namesIn = (member: unknown) =>
    Object.keys(isRecord(member) ? member : {}).filter((name) => {
      const scope = scopeOfClaim(name)
      return scope !== undefined && allowedScopes.includes(scope)
    })
  const { id_token: idToken, userinfo } = claims
  const [forIdToken, forUserinfo] = [namesIn(idToken), namesIn(userinfo)]
  const sub = subIn(idToken) ?? subIn(userinfo)
  return {
    ...(forIdToken.length > 0 && { id_token_claims: forIdToken }),
    ...(forUserinfo.length > 0 && { userinfo_claims: forUserinfo }),
    ...(sub !== undefined && { sub }),
  }
}

/** The requested user (§5.5.1). */
function subIn(member: unknown): string | undefined {
  const sub = isRecord(member) ? member.sub : undefined
  return isRecord(sub) && typeof sub.value === 'string' ? sub.value : undefined
}

/** The requested scope with the scopes of individually requested claims: what the user consents to. */
export function consentScope(
  scope: string,
  { id_token_claims: one = [], userinfo_claims: other = [] }: RequestedClaims,
): string {
  const names = [...one, ...other].map(scopeOfClaim)
  return [...new Set([...scope.split(' '), ...names])].filter(Boolean).join(' ')
}
