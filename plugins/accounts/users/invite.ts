/** Inviting people by mail: an account without a password, which whoever opens the link may claim. */
import type { Trx } from '../../../db/database.ts'
import { findUserByAnyEmail, type UserRecord } from '../../../db/users.ts'
import { emailExists } from '../../../errors.ts'
import type { House } from '../../define-plugin.ts'
import type { LinkContext } from '../flows/link-context.ts'
import type { CreateHouse } from './create.ts'
import { keepForProof } from './pending-sign-up.ts'
import { type Registrant, type Registration, register } from './register.ts'

/**
 * The account that the invitation is to; call `keepForProof` when its link is made. Somebody else may have signed up
 * with the address meanwhile: what they set goes when the invitation is accepted. Throws email_exists for a proven account.
 */
export async function prepareInvitation(
  house: CreateHouse & House<'sessions'>,
  trx: Trx,
  person: Registrant,
  now: Date,
): Promise<Registration> {
  const { contact, aud } = person
  const existing = await findUserByAnyEmail(trx, contact.address, aud)
  const isWaiting =
    existing?.invited_at && !existing.email_confirmed_at && !existing.encrypted_password
  const invited = isWaiting ? { user: existing } : await register(house, trx, person, now)
  if (!invited) throw emailExists()
  return invited
}

/** An admin is held back by no limit. Throws email_exists or email_provider_not_configured. */
export async function invite(
  house: CreateHouse & House<'emails' | 'sessions'>,
  trx: Trx,
  person: Registrant,
  context: LinkContext,
  now: Date,
): Promise<UserRecord> {
  const { emails } = house
  emails.checkRecipient(person.contact.address)
  const invited = await prepareInvitation(house, trx, person, now)
  const sent = await emails.sendUncountedLink(trx, 'invite', invited.user, context, now)
  await keepForProof(trx, invited, now)
  return { ...invited.user, ...sent }
}
