import type { Trx } from '../../db/core/database.ts'
import { isUniqueViolation } from '../../db/core/unique-violation.ts'
import { deleteIdentity } from '../../db/identities/identities.ts'
import type { IdentityJson } from '../../db/tables/identities.ts'
import { deleteTokens } from '../../db/tokens/one-time-tokens.ts'
import { isTaken } from '../../db/users/identifier-owners.ts'
import { mergeMetadata } from '../../db/users/merge-user.ts'
import { recomputeProviders } from '../../db/users/providers.ts'
import { updateUser } from '../../db/users/update-user.ts'
import type { UserRecord } from '../../db/users/users.ts'
import type { Deps } from '../../plugins/define-plugin.ts'
import type { AuthContext } from '../../plugins/security/bearer-auth/index.ts'
import {
  emailConflictIdentityNotDeletable,
  identityNotFound,
  singleIdentityNotDeletable,
} from '../../schemas/errors.ts'
import { metadataLimits } from '../../schemas/values/metadata-limits.ts'
import { recordAudit } from '../audit/index.ts'
import { recordNewMethod, requireVerifiedFactor } from '../credentials/index.ts'
import { notifyUser } from '../emails/index.ts'
import { revokeAllSessions } from '../sessions/index.ts'
import { emitEmailChanged, verifyEmail } from '../users/index.ts'
import { identityTraits } from './identity-row.ts'
import { type Promotion, promotions } from './promotions.ts'

type UnlinkDeps = Deps<'audit' | 'config' | 'credentials' | 'emails' | 'sessions' | 'users'>

interface Unlinking {
  identityId: string
  ip: string
}

/**
 * The caller must have locked the session. The identity's email or phone is removed from the account. Throws
 * single_identity_not_deletable, identity_not_found, email_conflict_identity_not_deletable and insufficient_aal.
 */
export async function unlinkIdentity(
  deps: UnlinkDeps,
  trx: Trx,
  current: AuthContext,
  { identityId, ip }: Unlinking,
  now: Date,
): Promise<void> {
  const { user } = current
  const userId = user.id
  requireVerifiedFactor(deps.credentials, current, 'identity', now)
  if (user.identities.length <= 1) throw singleIdentityNotDeletable()
  const identity = user.identities.find(({ id }) => id === identityId)
  if (!identity) throw identityNotFound()
  await deleteIdentity(trx, identity.id)
  const rest = user.identities.filter(({ id }) => id !== identityId)
  const { provider } = identity
  if (provider === 'phone') {
    await updateUser(trx, userId, { phone: null, phone_confirmed_at: null }, now)
  } else if (!rest.some(({ email }) => (email ?? '') === (user.email ?? ''))) {
    // A user of another audience may have the email, or got it concurrently.
    await promote(deps, trx, current, rest, now).catch((error) => {
      throw isUniqueViolation(error) ? emailConflictIdentityNotDeletable() : error
    })
  }
  await recomputeProviders(trx, userId, now)
  const traits = identityTraits(identity)
  await recordAudit(deps.audit, trx, 'identity_unlinked', user, { ip, now, traits })
  // Notifies the previous email, which an attacker cannot have chosen.
  const notification = { kind: 'identity_unlinked_notification', Provider: provider } as const
  await notifyUser(deps.emails, trx, user, notification, now)
}

/** The email was removed with the identity: promotes the best remaining one. */
async function promote(
  deps: UnlinkDeps,
  trx: Trx,
  { user, session }: AuthContext,
  rest: readonly IdentityJson[],
  now: Date,
): Promise<void> {
  const chosen = await firstFree(deps, trx, user, rest)
  if (!chosen) throw emailConflictIdentityNotDeletable()
  const { email, verified } = chosen
  if (email !== null) {
    await recordNewMethod(trx, user, 'email', now)
    await emitEmailChanged(deps.users, trx, user, email, now)
    const except = session?.session_id
    if (user.email) await revokeAllSessions(deps.sessions, trx, user.id, { except }, now)
  }
  const columns = { email, email_change: '', email_change_confirm_status: 0 }
  if (email !== null && (verified || deps.config.AUTH_MAILER_AUTOCONFIRM)) {
    const proof = { columns, voidsTokens: true, isAssumed: !verified }
    await verifyEmail(deps.users, trx, user.id, proof, now)
    return
  }
  await updateUser(trx, user.id, { ...columns, email_confirmed_at: null }, now)
  const limits = metadataLimits(deps.config)
  await mergeMetadata(trx, user.id, { user: { email_verified: false } }, limits, now)
  await deleteTokens(trx, user.id)
}

async function firstFree(
  { config }: Deps<'config'>,
  trx: Trx,
  user: UserRecord,
  rest: readonly IdentityJson[],
): Promise<Promotion | undefined> {
  for (const candidate of promotions(rest)) {
    if (candidate.email === null || user.is_sso_user) return candidate
    // Next to a verified phone, an unverified email would be withheld from its owner.
    if (!candidate.verified && user.phone_confirmed_at) continue
    const aud = user.aud ?? config.AUTH_JWT_AUD
    if (!(await isTaken(trx, candidate.email, aud, user.id))) return candidate
  }
  return undefined
}
