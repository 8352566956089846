/** Requirements of a request on the user's sign-in (OpenID Connect Core §3.1.2.1). */
import type { StoredAuthorization } from '../../../db/oauth-server/authorizations.ts'
import type { StoredAuthentication } from '../../../db/tables/oauth-server.ts'
import type { UserRecord } from '../../../db/users/users.ts'

/** What is missing before consent. */
type Missing = 'sign_in' | 'second_factor'

type Demanding = Pick<StoredAuthorization, 'parameters' | 'created_at'>

interface SignedIn {
  user: Pick<UserRecord, 'id' | 'factors'>
  signIn: Pick<StoredAuthentication, 'auth_time' | 'aal'>
  requiresFactor: boolean
}

/** Undefined when the sign-in is sufficient. */
export function findMissing(
  { parameters, created_at: requestedAt }: Demanding,
  { user: { id, factors }, signIn, requiresFactor }: SignedIn,
): Missing | undefined {
  const {
    prompt = [],
    max_age: maxAge,
    acr_values: acr,
    requires_aal2: isEssential,
    sub,
  } = parameters ?? {}
  if (sub !== undefined && sub !== id) return 'sign_in'
  const isNew = signIn.auth_time >= requestedAt
  // A request to create an account is not answered by the user who happens to be signed in.
  if ((prompt.includes('login') || prompt.includes('create')) && !isNew) return 'sign_in'
  // Reading the consent page takes time, so the age at the time of the request counts.
  const age = (requestedAt.getTime() - signIn.auth_time.getTime()) / 1000
  if (maxAge !== undefined && age > maxAge) return 'sign_in'
  if (requiresFactor) return 'second_factor'
  const hasFactor = factors.some(({ status }) => status === 'verified')
  const requiresAal2 = isEssential || (acr === 'aal2' && hasFactor)
  if (requiresAal2 && signIn.aal === 'aal1') return 'second_factor'
  return undefined
}
