/** Resolves the account of an identity. */
import type { FastifyInstance } from 'fastify'

import type { Db } from '../../db/core/database.ts'
import { findIdentity } from '../../db/identities/identities.ts'
import type { IdentityRow } from '../../db/tables/identities.ts'
import { findEmailOwners, findIdentityOwners, isTaken } from '../../db/users/identifier-owners.ts'
import { findUser } from '../../db/users/users.ts'
import {
  hasServerRole,
  isAddressOfTenant,
  isProviderOfTenant,
  mayLinkAccount,
} from '../access/index.ts'
import type { AccountEmails } from './emails.ts'
import { defaultDomain, getLinkingDomain, isSsoProvider } from './tenant-provider.ts'

type Decision =
  | { state: 'exists'; identity: IdentityRow }
  | { state: 'link'; userId: string }
  | { state: 'create' }
  /** Verified emails of one provider account belong to two users. */
  | { state: 'several' }
  /** The email belongs to a user, and is unverified or that of a provider which may not open the account. */
  | { state: 'owned' }

interface AccountQuery {
  provider: string
  providerId: string
  isOfTenant: boolean
  addresses: AccountEmails
  aud: string
}

export async function resolveAccount(
  app: FastifyInstance,
  db: Db,
  query: AccountQuery,
): Promise<Decision> {
  const { provider, providerId, addresses, aud } = query
  const identity = await findIdentity(db, provider, providerId)
  if (identity) return { state: 'exists', identity }
  const [owner, ...others] = await findOwners(app, db, query)
  if (others.length > 0) return { state: 'several' }
  if (owner && (await mayBeLinked(app, db, query, owner))) {
    return { state: 'link', userId: owner }
  }
  if (owner && !isSsoProvider(app, provider)) return { state: 'owned' }
  const { primary, verified } = addresses
  if (primary === null || verified.includes(primary)) return { state: 'create' }
  const taken = await isTaken(db, primary, aud, null)
  return { state: taken ? 'owned' : 'create' }
}

/** Whether the provider has the authority: that of a tenant needs it from the address, and has none over admins. */
async function mayBeLinked(
  app: FastifyInstance,
  db: Db,
  { provider, isOfTenant, addresses: { primary: asserted } }: AccountQuery,
  userId: string,
): Promise<boolean> {
  if (!isOfTenant) return true
  if (isSsoProvider(app, provider)) return !(await hasServerRole(app, db, userId))
  const user = await findUser(db, userId)
  return user !== undefined && mayLinkAccount(app, db, user, { provider, asserted })
}

/** Whether the identity is to be linked to this user. */
export async function isOwner(
  app: FastifyInstance,
  db: Db,
  query: AccountQuery,
  userId: string,
): Promise<boolean> {
  const decision = await resolveAccount(app, db, query)
  return decision.state === 'link' && decision.userId === userId
}

/**
 * An email verified by a provider or its owner identifies a user. Unverified emails count only when there is no other
 * match: the account is then cleared of earlier credentials.
 */
async function findOwners(
  app: FastifyInstance,
  db: Db,
  { provider, addresses: { verified }, aud }: AccountQuery,
): Promise<string[]> {
  if (verified.length === 0) return []
  const domain = getLinkingDomain(app, provider)
  const find = domain === defaultDomain ? findEmailOwners : findIdentityOwners
  const found = await find(db, verified, aud)
  const linked = await verifiedNow(
    app,
    db,
    found.flatMap(({ provider, ...row }) =>
      provider !== null && getLinkingDomain(app, provider) === domain ? { ...row, provider } : [],
    ),
  )
  const users = found.filter(({ provider }) => provider === null)
  const owners = [...linked, ...users.filter(({ is_proven }) => is_proven)]
  return [...new Set((owners.length > 0 ? owners : users).map(({ user_id }) => user_id))]
}

/** Without addresses that the provider of a tenant verified before it lost the domain, or was one of a tenant. */
async function verifiedNow<Row extends { provider: string; email: string | null }>(
  app: FastifyInstance,
  db: Db,
  rows: readonly Row[],
): Promise<Row[]> {
  const kept = []
  for (const row of rows) {
    const { provider, email } = row
    const isTrusted =
      isSsoProvider(app, provider) ||
      !(await isProviderOfTenant(db, provider)) ||
      (email !== null && (await isAddressOfTenant(app, db, provider, email)))
    if (isTrusted) kept.push(row)
  }
  return kept
}
