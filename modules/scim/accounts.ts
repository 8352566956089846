/** Whether an account is one of the tenant, and the creation of accounts. */
import type { FastifyInstance } from 'fastify'

import type { Db, Trx } from '../../db/core/database.ts'
import { isUniqueViolation } from '../../db/core/errors.ts'
import { hasOtherSignIn } from '../../db/scim/access.ts'
import { isVerifiedDomain, type ScimConnectionRow } from '../../db/scim/connections.ts'
import { insertAutoconfirmed } from '../../db/users/autoconfirmed-addresses.ts'
import type { UserRecord } from '../../db/users/users.ts'
import { scimRejected } from '../../schemas/errors.ts'
import { hasServerRole } from '../access/index.ts'
import { callBeforeUserCreated, createUser } from '../users/index.ts'
import type { CreationPermit } from '../users/sign-up/types.ts'
import {
  type AccountClaims,
  toAccountMetadata,
  toProviderName,
  toScimIdentities,
} from './claims.ts'

/** Calls the operator's hook, before the transaction. Throws HookError. */
export function permitAccount(
  app: FastifyInstance,
  connection: ScimConnectionRow,
  claims: AccountClaims,
  ip: string,
): Promise<CreationPermit> {
  const { email } = claims
  const known = { aud: app.config.AUTH_JWT_AUD, email, ...toAccountMetadata(connection, claims) }
  return callBeforeUserCreated(app, known, ip)
}

export async function hasVerifiedEmailDomain(
  db: Db,
  connection: ScimConnectionRow,
  email: string | null,
): Promise<boolean> {
  return email !== null && isVerifiedDomain(db, connection, getDomain(email))
}

const getDomain = (email: string) => email.slice(email.lastIndexOf('@') + 1)

/**
 * False for an account with an address outside of the verified domains, also before it is confirmed: it belongs to the
 * holder of the address, who may confirm it later. False for an account whose user removed the address and signs in by
 * other means, and for one with a role on the server.
 */
export async function isAccountOfTenant(
  app: FastifyInstance,
  trx: Trx,
  connection: ScimConnectionRow,
  { id, is_sso_user, email }: Pick<UserRecord, 'id' | 'is_sso_user' | 'email'>,
): Promise<boolean> {
  if (await hasServerRole(app, trx, id)) return false
  if (is_sso_user) return true
  if (email) return hasVerifiedEmailDomain(trx, connection, email)
  return !(await hasOtherSignIn(trx, id, toProviderName(connection)))
}

interface NewAccount {
  claims: AccountClaims
  permit: CreationPermit
}

/** Throws uniqueness. */
export async function createAccount(
  app: FastifyInstance,
  trx: Trx,
  connection: ScimConnectionRow,
  { claims, permit }: NewAccount,
  now: Date,
): Promise<string> {
  const { email } = claims
  const isSso = connection.has_saml
  const isVerified = await hasVerifiedEmailDomain(trx, connection, email)
  const isConfirmed = email !== null && (isSso || isVerified)
  const account = {
    permit,
    aud: app.config.AUTH_JWT_AUD,
    email,
    passwordHash: null,
    isSso,
    emailConfirmedAt: isConfirmed ? now : null,
    ...toAccountMetadata(connection, claims),
    identities: toScimIdentities(connection, claims, permit.userId, isConfirmed),
  }
  const created = await createUser(app, trx, account, now)
  if (created && isConfirmed && !isSso) {
    await insertAutoconfirmed(trx, created.id, email, now, 'scim')
  }
  if (created) return created.id
  throw uniqueness(
    isVerified
      ? 'An account has this email address and cannot be linked: its user has not confirmed the address, or is no user that an organization manages'
      : `An account has this email address, and the domain ${getDomain(email ?? '')} is not verified for this connection: it is linked once the domain is`,
  )
}

export const uniqueness = (detail: string) => scimRejected(409, 'uniqueness', detail)

export const nameIdTaken = 'Another account signs in at the provider with this userName'

/** Throws uniqueness with the sentence when the write fails with a unique violation. */
export async function rejectIfTaken<T>(taken: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    throw uniqueness(taken)
  }
}
