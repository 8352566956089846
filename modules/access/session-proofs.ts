/** The authentications of a session. A method that was added within the last day does not authorize another one. */
import type { Db, Trx } from '../../db/core/database.ts'
import {
  findSessionProof,
  type SessionProof,
  setReauthenticated,
  upsertNewSignInMethod,
} from '../../db/sessions/session-proofs.ts'
import type { SignInMethod } from '../../db/tables/sessions.ts'
import type { UserRecord } from '../../db/users/users.ts'
import type { AuthContext } from '../../plugins/security/bearer-auth/index.ts'

type Authenticated = Pick<AuthContext, 'user' | 'session'>

/** The time for the owner to react to the notification of a new method. */
const newMethodMs = 24 * 60 * 60 * 1000

export function loadProof(
  db: Db,
  { user, session }: Authenticated,
  now: Date,
): Promise<SessionProof> {
  const addedAfter = new Date(now.getTime() - newMethodMs)
  const sessionId = session?.session_id ?? null
  return findSessionProof(db, { userId: user.id, sessionId, addedAfter })
}

type VerifiedMethod = SignInMethod | 'anonymous'

export interface EstablishedProof {
  /** The amr value. */
  name: string
  method: VerifiedMethod
  timestamp: number
}

/** The authentications in the session's amr by methods that are not new. */
export function establishedProofs(
  { user, session }: Authenticated,
  { added, bySms }: SessionProof,
): EstablishedProof[] {
  const openedAt = (session?.session_created_at?.getTime() ?? 0) / 1000
  return (session?.amr ?? []).flatMap(({ method: name, timestamp }) => {
    const method = toVerifiedMethod(name, bySms || !user.email_confirmed_at)
    const addedAt = method && method !== 'anonymous' ? added[method] : undefined
    if (!method || (addedAt !== undefined && timestamp >= addedAt)) return []
    // The first authentication is as old as the session; second factors may be verified again.
    const at = method === 'factor' ? timestamp : Math.min(timestamp, openedAt)
    return [{ name, method, timestamp: at }]
  })
}

/** The methods that authenticated the session, new or not; `factor` stands for every second factor. */
export async function findVerifiedMethods(
  db: Db,
  authenticated: Authenticated,
  now: Date,
): Promise<VerifiedMethod[]> {
  const { bySms } = await loadProof(db, authenticated, now)
  const proofs = establishedProofs(authenticated, { bySms, reauthenticatedAt: null, added: {} })
  return proofs.map(({ method }) => method)
}

/** Whether one of them, or a reauthentication in the session, is younger than `maxAgeSeconds`; 0 is no limit. */
export function hasRecentProof(
  proofs: readonly { timestamp: number }[],
  { reauthenticatedAt }: SessionProof,
  maxAgeSeconds: number,
  now: Date,
): boolean {
  const times = proofs.map(({ timestamp }) => timestamp * 1000)
  if (reauthenticatedAt) times.push(reauthenticatedAt.getTime())
  return times.some((time) => maxAgeSeconds === 0 || now.getTime() - time < maxAgeSeconds * 1000)
}

/** Undefined for methods that authorize no change: a recovery code, an impersonating admin, an OAuth client. */
function toVerifiedMethod(name: string, bySms: boolean): VerifiedMethod | undefined {
  if (name === 'otp') return bySms ? 'phone' : 'email'
  return methods.get(name)
}

const methods = new Map<string, VerifiedMethod>([
  // The first session of an anonymous account, which has no other method.
  ['anonymous', 'anonymous'],
  ['password', 'password'],
  ['magiclink', 'email'],
  ['recovery', 'email'],
  ['email/signup', 'email'],
  ['email_change', 'email'],
  ['invite', 'email'],
  ['oauth', 'identity'],
  ['sso/saml', 'identity'],
  ['web3', 'identity'],
  ['passkey', 'passkey'],
  ['totp', 'factor'],
  ['mfa/phone', 'factor'],
  ['mfa/webauthn', 'factor'],
])

/** Records a reauthentication in this session. */
export async function recordReauthentication(
  db: Db,
  { session }: Authenticated,
  now: Date,
): Promise<void> {
  if (session) await setReauthenticated(db, { sessionId: session.session_id, now })
}

/**
 * Records a new method, which does not authorize another one for a day. `user` is from before the change: the first
 * method of an anonymous user counts immediately.
 */
export async function recordNewMethod(
  trx: Trx,
  user: Pick<UserRecord, 'id' | 'email' | 'is_anonymous'>,
  method: SignInMethod,
  now: Date,
): Promise<void> {
  if (user.is_anonymous) return
  const { id: userId, email } = user
  const previousAddress = method === 'email' ? email : null
  const newSince = new Date(now.getTime() - newMethodMs)
  await upsertNewSignInMethod(trx, { userId, method, previousAddress, newSince }, now)
}
