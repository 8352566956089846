/** What a code or link does for the account whose address it went to. */
import type { Trx } from '../../../db/database.ts'
import { deleteTokens } from '../../../db/one-time-tokens.ts'
import { recomputeProviders } from '../../../db/user-providers.ts'
import type { UserRecord } from '../../../db/users.ts'
import type { House } from '../../define-plugin.ts'
import type { Verified } from './verified.ts'

/** The link or code came with a sign-up, so the password of that sign-up is proven along with the address. */
export async function confirmSignUp(
  { users }: House<'users'>,
  trx: Trx,
  user: UserRecord,
  { type, tokenHash }: { type: 'signup' | 'invite'; tokenHash: string | null },
  now: Date,
): Promise<Verified> {
  const isInvited = user.invited_at !== null
  const contact = { provider: 'email', address: user.email ?? '' } as const
  await users.settleSignUps(trx, user, { contact, tokenHash }, now)
  await recomputeProviders(trx, user.id, now)
  const proof = { voidsTokens: true, endsSessions: isInvited, marksIdentities: true }
  const proven = await users.proveEmail(trx, user.id, proof, now)
  const action = isInvited ? 'invite_accepted' : 'user_signedup'
  return { state: 'done', user: proven, type, action }
}

/** Proves the mailbox and nothing else: whatever an unproven account already had is not the owner's. */
export async function confirmMailbox(
  { users }: House<'users'>,
  trx: Trx,
  user: UserRecord,
  type: 'recovery' | 'magiclink',
  now: Date,
): Promise<Verified> {
  await deleteTokens(trx, user.id)
  if (user.email_confirmed_at) return { state: 'done', user, type, action: 'login' }
  const kept = { keepIdentity: { provider: 'email' }, passwordHash: null } as const
  await users.dropUnproven(trx, user, kept, now)
  const proven = await users.proveEmail(trx, user.id, { marksIdentities: true }, now)
  return { state: 'done', user: proven, type, action: 'user_signedup' }
}

/** The code was texted to the number of a sign-up or a sign-in. */
export async function confirmPhone(
  { users }: House<'users'>,
  trx: Trx,
  user: UserRecord,
  tokenHash: string | null,
  now: Date,
): Promise<Verified> {
  const contact = { provider: 'phone', address: user.phone ?? '' } as const
  await users.settleSignUps(trx, user, { contact, tokenHash }, now)
  const action = user.phone_confirmed_at ? 'login' : 'user_signedup'
  await recomputeProviders(trx, user.id, now)
  const proof = { voidsTokens: true, inMetadata: true }
  const proven = await users.provePhone(trx, user.id, proof, now)
  return { state: 'done', user: proven, type: 'sms', action }
}
