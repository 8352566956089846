import { isTaken } from '../../../db/address-owners.ts'
import type { Trx } from '../../../db/database.ts'
import { deleteIdentity, type IdentityJson } from '../../../db/identities.ts'
import { deleteTokens } from '../../../db/one-time-tokens.ts'
import { isUniqueViolation } from '../../../db/unique-violation.ts'
import { mergeMetadata } from '../../../db/user-edits.ts'
import { recomputeProviders } from '../../../db/user-providers.ts'
import { updateUser } from '../../../db/user-rows.ts'
import type { UserRecord } from '../../../db/users.ts'
import {
  emailConflictIdentityNotDeletable,
  identityNotFound,
  insufficientAal,
  singleIdentityNotDeletable,
} from '../../../errors.ts'
import type { Bearer } from '../../bearer-auth.ts'
import type { House } from '../../define-plugin.ts'
import { traitsOf } from './identity-row.ts'
import { type Promotion, promotions } from './promotions.ts'

export interface Unlinking {
  identityId: string
  ip: string
}

/**
 * For whoever `held` holds. Where the account's address or number goes with the identity, it takes what a change of them
 * takes. Throws single_identity_not_deletable, identity_not_found, email_conflict_identity_not_deletable and
 * insufficient_aal.
 */
export async function unlink(
  house: House<'audit' | 'bearerAuth' | 'config' | 'emails' | 'users'>,
  trx: Trx,
  held: Bearer,
  { identityId, ip }: Unlinking,
  now: Date,
): Promise<void> {
  const { user } = held
  const userId = user.id
  if (user.identities.length <= 1) throw singleIdentityNotDeletable()
  const identity = user.identities.find(({ id }) => id === identityId)
  if (!identity) throw identityNotFound()
  await deleteIdentity(trx, identity.id)
  const rest = user.identities.filter(({ id }) => id !== identityId)
  const { provider } = identity
  if (provider === 'phone') {
    checkConfirmed(house, held, now)
    await updateUser(trx, userId, { phone: null, phone_confirmed_at: null }, now)
  } else if (!rest.some(({ email }) => (email ?? '') === (user.email ?? ''))) {
    checkConfirmed(house, held, now)
    // Somebody of another audience may have the address, or somebody since.
    await promote(house, trx, user, rest, now).catch((error) => {
      throw isUniqueViolation(error) ? emailConflictIdentityNotDeletable() : error
    })
  }
  await recomputeProviders(trx, userId, now)
  const traits = traitsOf(identity)
  await house.audit.record(trx, 'identity_unlinked', user, { ip, now, traits })
  // To the address that was the account's until now: it is the one an intruder cannot have chosen.
  const notification = { kind: 'identity_unlinked_notification', Provider: provider } as const
  await house.emails.notify(trx, user, notification, now)
}

function checkConfirmed({ bearerAuth }: House<'bearerAuth'>, held: Bearer, now: Date): void {
  if (bearerAuth.isConfirmed(held, now)) return
  throw insufficientAal(
    'AAL2 session is required to unlink the identity that email or phone come from.',
  )
}

/** The address went with the identity: the best of the others becomes the account's. */
async function promote(
  house: House<'config' | 'users'>,
  trx: Trx,
  user: UserRecord,
  rest: readonly IdentityJson[],
  now: Date,
): Promise<void> {
  const chosen = await firstFree(house, trx, user, rest)
  if (!chosen) throw emailConflictIdentityNotDeletable()
  const { email, verified } = chosen
  if (email !== null) await house.users.tellEmailChanged(trx, user, email, now)
  const columns = { email, email_change: '', email_change_confirm_status: 0 }
  if (email !== null && (verified || house.config.AUTH_MAILER_AUTOCONFIRM)) {
    await house.users.proveEmail(trx, user.id, { columns, voidsTokens: true }, now)
    return
  }
  await updateUser(trx, user.id, { ...columns, email_confirmed_at: null }, now)
  const { AUTH_USER_METADATA_MAX_BYTES: most } = house.config
  await mergeMetadata(trx, user.id, { user: { email_verified: false } }, most, now)
  await deleteTokens(trx, user.id)
}

async function firstFree(
  { config }: House<'config'>,
  trx: Trx,
  user: UserRecord,
  rest: readonly IdentityJson[],
): Promise<Promotion | undefined> {
  for (const candidate of promotions(rest)) {
    if (candidate.email === null || user.is_sso_user) return candidate
    // Beside a proven number, an address that nobody has proven would be kept from its owner.
    if (!candidate.verified && user.phone_confirmed_at) continue
    const aud = user.aud ?? config.AUTH_JWT_AUD
    if (!(await isTaken(trx, candidate.email, aud, user.id))) return candidate
  }
  return undefined
}
