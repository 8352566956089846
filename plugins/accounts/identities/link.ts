import { isTaken } from '../../../db/address-owners.ts'
import type { Trx } from '../../../db/database.ts'
import { findIdentity, lockIdentity } from '../../../db/identities.ts'
import { findSessionById } from '../../../db/session-look-ups.ts'
import { holdSession } from '../../../db/sessions.ts'
import { isUniqueViolation } from '../../../db/unique-violation.ts'
import { recomputeProviders } from '../../../db/user-providers.ts'
import { updateUser } from '../../../db/user-rows.ts'
import type { UserRecord } from '../../../db/users.ts'
import {
  emailExists,
  emailNotConfirmed,
  identityAlreadyExists,
  insufficientAal,
  sessionNotFound,
} from '../../../errors.ts'
import type { House } from '../../define-plugin.ts'
import { readAddresses } from './addresses.ts'
import { askForFirstAddress } from './confirmation-mail.ts'
import { addIdentity, linkedElsewhere, traitsOf } from './identity-row.ts'
import type { OauthPerson, SignInContext, SignInOutcome } from './oauth-sign-in.ts'
import { checkState, lockPerson } from './person.ts'

type LinkHouse = House<'audit' | 'bearerAuth' | 'config' | 'emails' | 'otp' | 'users'>

/** Who wants another way to sign in, and the session in which they said so; tokens of services have none. */
interface Asker {
  userId: string
  sessionId?: string | null | undefined
}

/**
 * Adds what a provider says to a person who is signed in. Throws identity_already_exists, email_exists, user_banned,
 * user_not_found, session_not_found, insufficient_aal, over_email_send_rate_limit.
 */
export async function link(
  house: LinkHouse,
  trx: Trx,
  { userId, sessionId }: Asker,
  person: OauthPerson,
  context: SignInContext,
  now: Date,
): Promise<SignInOutcome> {
  const { provider, identity: told } = person
  await lockIdentity(trx, provider, told.providerId)
  const user = await lockPerson(house, trx, userId)
  checkState(user, now)
  // It was there when the provider was asked, which may have taken long.
  if (sessionId && !(await holdSession(trx, userId, sessionId))) throw sessionNotFound()
  await checkFree(trx, userId, person)
  const takesAddress = !user.email && readAddresses(told).primary !== null
  if (takesAddress) await checkConfirmed(house, trx, user, sessionId, now)
  const identity = await addIdentity(trx, userId, person, now)
  const isConfirmed = user.email ? true : await takeAddress(house, trx, user, person, context, now)
  await recomputeProviders(trx, userId, now)
  const traits = traitsOf(identity)
  await house.audit.record(trx, 'identity_linked', user, { ip: context.ip, now, traits })
  if (!isConfirmed) return { state: 'refused', error: needsConfirmation() }
  const linked = await lockPerson(house, trx, userId)
  const notification = { kind: 'identity_linked_notification', Provider: provider } as const
  await house.emails.notify(trx, linked, notification, now)
  return { state: 'accepted', user: linked, action: 'identity_linked' }
}

async function checkFree(trx: Trx, userId: string, { provider, identity }: OauthPerson) {
  const existing = await findIdentity(trx, provider, identity.providerId)
  if (!existing) return
  const isOwn = existing.user_id === userId
  throw identityAlreadyExists(isOwn ? 'Identity is already linked' : linkedElsewhere)
}

/** A first address takes what any other change of it takes. Throws insufficient_aal. */
async function checkConfirmed(
  { bearerAuth }: House<'bearerAuth'>,
  trx: Trx,
  user: UserRecord,
  sessionId: Asker['sessionId'],
  now: Date,
): Promise<void> {
  const session = sessionId ? await findSessionById(trx, sessionId) : undefined
  if (bearerAuth.isConfirmed({ user, session }, now)) return
  throw insufficientAal('AAL2 session is required to link the identity that the email comes from.')
}

/** Somebody without an address gets the identity's; false when that has to be confirmed by mail. */
async function takeAddress(
  house: LinkHouse,
  trx: Trx,
  user: UserRecord,
  { identity }: OauthPerson,
  { links }: SignInContext,
  now: Date,
): Promise<boolean> {
  const { AUTH_JWT_AUD, AUTH_MAILER_AUTOCONFIRM: autoconfirm } = house.config
  const { primary: email, verified } = readAddresses(identity)
  if (!email) {
    await updateUser(trx, user.id, { is_anonymous: false }, now)
    return true
  }
  if (!verified.includes(email) && !autoconfirm) {
    await askForFirstAddress(house, trx, user, email, links, now)
    return false
  }
  if (await isTaken(trx, email, user.aud ?? AUTH_JWT_AUD, user.id)) throw emailExists(400)
  const proof = { columns: { email, email_confirmed_at: now } }
  // Somebody of another audience may have it, or somebody since.
  await house.users.proveEmail(trx, user.id, proof, now).catch((error) => {
    throw isUniqueViolation(error) ? emailExists(400) : error
  })
  return true
}

const needsConfirmation = () =>
  emailNotConfirmed(
    'The address of this identity is unverified. Open the link we mailed to it.',
    422,
  )
