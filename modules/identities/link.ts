import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../db/core/database.ts'
import { isUniqueViolation } from '../../db/core/errors.ts'
import { findIdentity, lockIdentity } from '../../db/identities/identities.ts'
import { findSessionById, lockSessionShared } from '../../db/sessions/sessions.ts'
import { isTaken } from '../../db/users/identifier-owners.ts'
import { recomputeProviders, updateUser } from '../../db/users/update-user.ts'
import type { UserRecord } from '../../db/users/users.ts'
import {
  emailExists,
  emailNotConfirmed,
  identityAlreadyExists,
  sessionNotFound,
} from '../../schemas/errors.ts'
import { recordAccess, requireVerifiedFactor } from '../access/index.ts'
import { verifyEmail } from '../users/index.ts'
import { requestFirstEmailConfirmation } from './email-confirmation-policy.ts'
import { readAddresses } from './emails.ts'
import { addIdentity, linkedToOtherUser } from './identity-row.ts'
import { checkState, lockUserOrThrow } from './lock-user.ts'
import { requireLinkable } from './tenant-provider.ts'
import type { CheckedExternalUser, ExternalUser, SignInContext, SignInOutcome } from './types.ts'

/** The user and session that requested the link; service tokens have no session. */
interface LinkRequester {
  userId: string
  sessionId?: string | null | undefined
}

/**
 * Links an identity to a signed-in user. Throws identity_already_exists, email_exists, user_banned, user_not_found,
 * session_not_found, insufficient_aal, over_email_send_rate_limit, provider_not_accepted.
 */
export async function link(
  app: FastifyInstance,
  trx: Trx,
  { userId, sessionId }: LinkRequester,
  externalUser: CheckedExternalUser,
  context: SignInContext,
  now: Date,
): Promise<SignInOutcome> {
  const { provider, identity: profile } = externalUser
  await lockIdentity(trx, provider, profile.providerId)
  const user = await lockUserOrThrow(trx, userId)
  checkState(user, now)
  // The session may have ended while the provider was called.
  if (sessionId && !(await lockSessionShared(trx, userId, sessionId))) throw sessionNotFound()
  await checkFree(trx, userId, externalUser)
  await requireLinkable(app, trx, user, externalUser)
  // A factor may have been added since the flow started.
  const session = sessionId ? await findSessionById(trx, sessionId) : undefined
  requireVerifiedFactor(app, { user, session }, 'identity', now)
  const identity = await addIdentity(trx, userId, externalUser, now)
  const isConfirmed = user.email
    ? true
    : await setFirstEmail(app, trx, user, externalUser, context, now)
  await recomputeProviders(trx, userId, now)
  const linked = await lockUserOrThrow(trx, userId)
  const grant = { kind: 'identity', identity, ip: context.ip } as const
  await recordAccess(app, trx, { user, changed: linked, grant }, now)
  if (!isConfirmed) return { state: 'rejected', error: needsConfirmation() }
  return { state: 'accepted', user: linked, action: 'identity_linked' }
}

async function checkFree(trx: Trx, userId: string, { provider, identity }: ExternalUser) {
  const existing = await findIdentity(trx, provider, identity.providerId)
  if (!existing) return
  const isOwn = existing.user_id === userId
  throw identityAlreadyExists(isOwn ? 'Identity is already linked' : linkedToOtherUser)
}

/** Sets the email of a user without one; false when it must be confirmed by email. */
async function setFirstEmail(
  app: FastifyInstance,
  trx: Trx,
  user: UserRecord,
  { identity, isOfTenant: isAsserted }: CheckedExternalUser,
  { links }: SignInContext,
  now: Date,
): Promise<boolean> {
  const { AUTH_JWT_AUD, AUTH_MAILER_AUTOCONFIRM: autoconfirm } = app.config
  const { primary: email, verified } = readAddresses(identity)
  if (!email) {
    await updateUser(trx, user.id, { is_anonymous: false }, now)
    return true
  }
  if (!verified.includes(email) && !autoconfirm) {
    await requestFirstEmailConfirmation(app, trx, user, email, links, now)
    return false
  }
  if (await isTaken(trx, email, user.aud ?? AUTH_JWT_AUD, user.id)) throw emailExists(400)
  const isAssumed = !verified.includes(email)
  const proof = { columns: { email, email_confirmed_at: now }, isAssumed, isAsserted }
  // A user of another audience may have it, or got it concurrently.
  await verifyEmail(app, trx, user.id, proof, now).catch((error) => {
    throw isUniqueViolation(error) ? emailExists(400) : error
  })
  await recordAccess(app, trx, { user, grant: { kind: 'email' } }, now)
  return true
}

const needsConfirmation = () =>
  emailNotConfirmed(
    'The address of this identity is unverified. Open the link in the email that was sent to it.',
    422,
  )
