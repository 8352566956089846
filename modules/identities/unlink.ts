import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../db/core/database.ts'
import { isUniqueViolation } from '../../db/core/errors.ts'
import { deleteIdentity } from '../../db/identities/identities.ts'
import type { IdentityJson } from '../../db/tables/identities.ts'
import { deleteTokens } from '../../db/tokens/one-time-tokens.ts'
import { isTaken } from '../../db/users/identifier-owners.ts'
import { mergeMetadata } from '../../db/users/merge-user.ts'
import { recomputeProviders, updateUser } from '../../db/users/update-user.ts'
import type { UserRecord } from '../../db/users/users.ts'
import type { AuthContext } from '../../plugins/security/bearer-auth/index.ts'
import {
  emailConflictIdentityNotDeletable,
  identityNotFound,
  singleIdentityNotDeletable,
} from '../../schemas/errors.ts'
import { metadataLimits } from '../../schemas/values/metadata-limits.ts'
import {
  identityTraits,
  isAddressOfTenant,
  isProviderOfTenant,
  recordAccess,
  requireVerifiedFactor,
} from '../access/index.ts'
import { recordAudit } from '../audit/index.ts'
import { notifyUser } from '../emails/index.ts'
import { revokeAllSessions } from '../sessions/index.ts'
import { emitEmailChanged, verifyEmail } from '../users/index.ts'

interface Unlinking {
  identityId: string
  ip: string
}

/**
 * The caller must have locked the session. The identity's email or phone is removed from the account. Throws
 * single_identity_not_deletable, identity_not_found, email_conflict_identity_not_deletable and insufficient_aal.
 */
export async function unlinkIdentity(
  app: FastifyInstance,
  trx: Trx,
  current: AuthContext,
  { identityId, ip }: Unlinking,
  now: Date,
): Promise<void> {
  const { user } = current
  const userId = user.id
  requireVerifiedFactor(app, current, 'identity', now)
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
    await promote(app, trx, current, rest, now).catch((error) => {
      throw isUniqueViolation(error) ? emailConflictIdentityNotDeletable() : error
    })
  }
  await recomputeProviders(trx, userId, now)
  const traits = identityTraits(identity)
  await recordAudit(app.audit, trx, 'identity_unlinked', user, { ip, now, traits })
  // Notifies the previous email, which an attacker cannot have chosen.
  const notification = { kind: 'identity_unlinked_notification', Provider: provider } as const
  await notifyUser(app, trx, user, notification, now)
}

/** The email was removed with the identity: promotes the best remaining one. */
async function promote(
  app: FastifyInstance,
  trx: Trx,
  { user, session }: AuthContext,
  rest: readonly IdentityJson[],
  now: Date,
): Promise<void> {
  const chosen = await firstFree(app, trx, user, rest)
  if (!chosen) throw emailConflictIdentityNotDeletable()
  const { email, verified, isAsserted } = chosen
  if (email !== null) {
    await recordAccess(app, trx, { user, grant: { kind: 'email' } }, now)
    await emitEmailChanged(app, trx, user, email, now)
    const except = session?.session_id
    if (user.email) await revokeAllSessions(app, trx, user.id, { except }, now)
  }
  const columns = { email, email_change: '', email_change_confirm_status: 0 }
  if (email !== null && (verified || app.config.AUTH_MAILER_AUTOCONFIRM)) {
    const proof = { columns, clearTokens: true, isAssumed: !verified, isAsserted }
    await verifyEmail(app, trx, user.id, proof, now)
    return
  }
  await updateUser(trx, user.id, { ...columns, email_confirmed_at: null }, now)
  const limits = metadataLimits(app.config)
  await mergeMetadata(trx, user.id, { user: { email_verified: false } }, limits, now)
  await deleteTokens(trx, user.id)
}

interface CheckedPromotion extends Promotion {
  /** The provider of a tenant has verified it, and not its holder. */
  isAsserted: boolean
}

async function firstFree(
  app: FastifyInstance,
  trx: Trx,
  user: UserRecord,
  rest: readonly IdentityJson[],
): Promise<CheckedPromotion | undefined> {
  for (const promotion of promotions(rest)) {
    const candidate = await checkPromotion(app, trx, promotion)
    if (candidate.email === null || user.is_sso_user) return candidate
    // Next to a verified phone, an unverified email would be withheld from its owner.
    if (!candidate.verified && user.phone_confirmed_at) continue
    const aud = user.aud ?? app.config.AUTH_JWT_AUD
    if (!(await isTaken(trx, candidate.email, aud, user.id))) return candidate
  }
  return undefined
}

/** The provider of a tenant verifies addresses in the domains that the tenant has now. */
async function checkPromotion(
  app: FastifyInstance,
  trx: Trx,
  promotion: Promotion,
): Promise<CheckedPromotion> {
  const { provider, email } = promotion
  const isAsserted = await isProviderOfTenant(trx, provider)
  if (!isAsserted || email === null) return { ...promotion, isAsserted }
  const isOwn = await isAddressOfTenant(app, trx, provider, email)
  return { ...promotion, isAsserted, verified: promotion.verified && isOwn }
}

interface Promotion {
  provider: string
  email: string | null
  verified: boolean
}

/**
 * Candidates for the account's email after an unlink, best first: verified ones, others, none; the oldest identity
 * first. The email in the data of a phone identity is only the user's claim.
 */
function promotions(identities: readonly IdentityJson[]): Promotion[] {
  const candidates = identities.map(({ provider, email, identity_data }) =>
    provider === 'phone' || !email
      ? { provider, email: null, verified: false }
      : { provider, email, verified: identity_data.email_verified === true },
  )
  return candidates.toSorted((left, right) => rank(left) - rank(right))
}

function rank({ email, verified }: Promotion): number {
  if (email === null) return 2
  return verified ? 0 : 1
}
