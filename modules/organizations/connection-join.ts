/** Membership by sign-in through the provider of a connection, with a role that the provider's claims determine. */
import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../db/core/database.ts'
import { findIdentity } from '../../db/identities/identities.ts'
import {
  findConnectionByProvider,
  findJoiningConnection,
} from '../../db/organizations/connections.ts'
import { findMember, type MemberRow } from '../../db/organizations/members.ts'
import { lockOrganization } from '../../db/organizations/organizations.ts'
import type { RoleRule } from '../../db/tables/organizations.ts'
import type { UserRecord } from '../../db/users/users.ts'
import type { ProviderIdentity } from '../../plugins/outgoing/oauth-providers/index.ts'
import { ApiError } from '../../schemas/errors.ts'
import { isRecord } from '../../schemas/values/record.ts'
import { permitJoin } from './join.ts'
import { addMember, setMemberRole } from './members.ts'

export type JoiningConnection = NonNullable<Awaited<ReturnType<typeof findConnectionByProvider>>>

/** A sign-in of a provider. */
interface SignIn {
  provider: string
  identity: ProviderIdentity
}

/**
 * Called before the transaction of a sign-in. Returns the connection of the provider, if there is one, after the
 * operator's hook has permitted a user who is not a member yet. Throws HookError.
 */
export async function permitConnectionJoin(
  app: FastifyInstance,
  { provider, identity }: SignIn,
  ip: string,
): Promise<JoiningConnection | undefined> {
  if (!app.config.AUTH_ORGANIZATIONS_ENABLED || !/^(sso|custom):/.test(provider)) return undefined
  const connection = await findConnectionByProvider(app.db, provider)
  if (!connection || !app.hooks.beforeOrganizationJoin) return connection
  const known = await findIdentity(app.db, provider, identity.providerId)
  const isMember = known && (await findMember(app.db, connection.organization_id, known.user_id))
  if (isMember) return connection
  const { organization_id: id, slug, organization_name: name } = connection
  const email = identity.emails.find(({ primary }) => primary)?.email ?? null
  const user = { id: known?.user_id ?? null, email }
  const role = findMappedRole(connection, identity)
  await permitJoin(app, { organization: { id, slug, name }, user, role, joined_by: 'sso' }, ip)
  return connection
}

/**
 * In the transaction of the sign-in, with the user locked: the user becomes a member, or gets the role that the claims
 * determine now. Changes only roles of members of this connection. Does nothing when the connection was disabled since
 * the hook was called. Throws organization_limit_reached.
 */
export async function joinByConnection(
  app: FastifyInstance,
  trx: Trx,
  permitted: JoiningConnection,
  user: UserRecord,
  { identity, ip }: { identity: ProviderIdentity; ip: string },
  now: Date,
): Promise<void> {
  const { id: connection_id, organization_id } = permitted
  await lockOrganization(trx, organization_id)
  const connection = await findJoiningConnection(trx, connection_id)
  if (!connection) return
  const role = findMappedRole(connection, identity)
  const by = { actor: user, ip }
  const before = await findMember(trx, organization_id, user.id)
  if (!before) {
    const member = { organization_id, user_id: user.id, role, joined_by: 'sso' as const }
    await addMember(app, trx, { ...member, connection_id }, by, now)
  } else if (before.connection_id === connection_id && connection.role_mapping.length > 0) {
    await followRole(app, trx, before, { role, by }, now)
  }
}

/** The last owner keeps the role. */
async function followRole(
  app: FastifyInstance,
  trx: Trx,
  { organization_id: organizationId, user_id: userId }: MemberRow,
  { role, by }: { role: string; by: { actor: UserRecord; ip: string } },
  now: Date,
): Promise<void> {
  try {
    await setMemberRole(app, trx, { organizationId, userId }, role, by, now)
  } catch (error) {
    if (!(error instanceof ApiError) || error.errorCode !== 'last_owner') throw error
  }
}

/** The role of the first rule that matches a claim of the user. */
function findMappedRole(
  { default_role, role_mapping }: { default_role: string; role_mapping: readonly RoleRule[] },
  { claims }: Pick<ProviderIdentity, 'claims'>,
): string {
  const custom = isRecord(claims.custom_claims) ? claims.custom_claims : {}
  const matches = ({ attribute, value }: RoleRule) =>
    [claims[attribute], custom[attribute]].flat().map(String).includes(value)
  return role_mapping.find(matches)?.role ?? default_role
}
