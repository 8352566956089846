/** Whether the account of somebody who comes by a provider may be made, asked before the transaction that makes it. */
import type { Db } from '../../../db/database.ts'
import type { House } from '../../define-plugin.ts'
import type { Approval } from '../users/approval.ts'
import { readAddresses } from './addresses.ts'
import { withCappedClaims } from './capped-claims.ts'
import type { OauthPerson, SignInPurpose } from './oauth-sign-in.ts'
import { decide } from './owner.ts'

/** Undefined for somebody who has an account. Throws HookError when the operator's hook refuses a new one. */
export async function approve(
  house: House<'config' | 'hooks' | 'users'>,
  db: Db,
  comer: OauthPerson,
  { linkingTargetId, inviteToken }: SignInPurpose,
  { aud, ip }: { aud: string; ip: string },
): Promise<Approval | undefined> {
  if (linkingTargetId || inviteToken || house.config.AUTH_DISABLE_SIGNUP) return undefined
  const { provider, identity } = withCappedClaims(house, comer)
  const addresses = readAddresses(identity)
  if (house.hooks.askForUser && !(await isNew(house, db, comer, aud))) return undefined
  const appMetadata = { provider, providers: [provider] }
  const candidate = { aud, email: addresses.primary, userMetadata: identity.claims, appMetadata }
  return house.users.approve(candidate, ip)
}

/** As it looks now: the transaction looks again, with the identity locked. */
async function isNew(
  house: House<'config'>,
  db: Db,
  { provider, identity }: OauthPerson,
  aud: string,
): Promise<boolean> {
  const { providerId } = identity
  const question = { provider, providerId, aud, addresses: readAddresses(identity) }
  return (await decide(house, db, question)).state === 'create'
}
