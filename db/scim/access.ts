/**
 * The role that a provisioned user has by their groups, other access of the account, and the organizations that it may
 * join.
 */
import { type ExpressionBuilder, type Selectable, sql } from 'kysely'

import type { Database, Db, Trx } from '../core/database.ts'
import { storedObject } from '../core/stored-json.ts'
import type { OrganizationsTable } from '../tables/organizations.ts'
import type { UserMetadata } from '../tables/users.ts'

interface RoleChange {
  user_id: string
  organization_id: string
  role: string
}

/** The role of the first mapping that names a group of the user, or else that of the connection. */
const mappedRole = (
  eb: ExpressionBuilder<
    Database & { u: Database['scim_users']; c: Database['postern_scim_connections'] },
    'u' | 'c'
  >,
) =>
  eb.fn.coalesce(
    eb
      .selectFrom('postern_scim_group_members as g')
      .innerJoin('postern_scim_groups as s', 's.id', 'g.group_id')
      .innerJoin('postern_scim_role_mappings as r', (join) =>
        join
          .onRef('r.sso_provider_id', '=', 's.sso_provider_id')
          .onRef('r.group_name', '=', 's.display_name'),
      )
      .select('r.role')
      .whereRef('g.scim_user_id', '=', 'u.id')
      .orderBy('r.priority')
      .limit(1),
    'c.default_role',
  )

/** The accounts of provisioned users. */
export async function listAccountIds(
  trx: Trx,
  connectionId: string,
  scimUserIds: readonly string[],
): Promise<string[]> {
  const rows = await trx
    .selectFrom('scim_users')
    .select('user_id')
    .where('sso_provider_id', '=', connectionId)
    .where(sql<boolean>`id = any(${[...scimUserIds]}::uuid[])`)
    .execute()
  return rows.flatMap(({ user_id }) => user_id ?? [])
}

/** Provisioned members of the organization whose role is not the one that their groups map to. */
export async function findRoleChanges(
  trx: Trx,
  connectionId: string,
  scimUserIds: readonly string[],
): Promise<RoleChange[]> {
  const members = await trx
    .selectFrom('scim_users as u')
    .innerJoin('postern_scim_connections as c', 'c.sso_provider_id', 'u.sso_provider_id')
    .innerJoin('postern_organization_members as m', (join) =>
      join
        .onRef('m.organization_id', '=', 'c.organization_id')
        .onRef('m.user_id', '=', 'u.user_id'),
    )
    .select((eb) => [
      'm.user_id',
      'm.organization_id',
      'm.role as present',
      mappedRole(eb).as('role'),
    ])
    .where('u.sso_provider_id', '=', connectionId)
    .where('u.deleted_at', 'is', null)
    .where(sql<boolean>`u.id = any(${[...scimUserIds]}::uuid[])`)
    .where('m.joined_by', '=', 'scim')
    .orderBy('m.user_id')
    .execute()
  return members.filter(({ present, role }) => present !== role)
}

/** Whether the account has a membership or a sign-in method that the connection did not add. */
export async function hasOtherAccess(trx: Trx, userId: string, provider: string): Promise<boolean> {
  const rows = (table: 'postern_organization_members' | 'scim_users') =>
    trx.selectFrom(table).select(sql`1`.as('one')).where('user_id', '=', userId)
  const member = await rows('postern_organization_members').executeTakeFirst()
  const provisioned = await rows('scim_users').where('deleted_at', 'is', null).executeTakeFirst()
  if (member || provisioned) return true
  return hasOtherSignIn(trx, userId, provider)
}

/** Whether the account has a sign-in method besides the provider and the address. */
export async function hasOtherSignIn(db: Db, userId: string, provider: string): Promise<boolean> {
  const found = await db
    .selectFrom('users')
    .select('users.id')
    .where('users.id', '=', userId)
    .where((eb) => {
      const of = (table: 'webauthn_credentials' | 'identities') =>
        eb.selectFrom(table).select(sql`1`.as('one')).where('user_id', '=', userId)
      return eb.or([
        eb.exists(of('webauthn_credentials')),
        eb.exists(of('identities').where(sql<boolean>`provider not in ('email', ${provider})`)),
        sql<boolean>`coalesce(users.encrypted_password, '') <> ''`,
        eb('users.phone_confirmed_at', 'is not', null),
      ])
    })
    .executeTakeFirst()
  return found !== undefined
}

/** The identity by which a linked account was signed in at the provider. */
export async function deleteProviderIdentity(
  trx: Trx,
  userId: string,
  provider: string,
): Promise<void> {
  await trx
    .deleteFrom('identities')
    .where('user_id', '=', userId)
    .where('provider', '=', provider)
    .execute()
}

/**
 * Changes the identity at the provider; deletes it when the user has one with the new name. Fails with a unique
 * violation when another user has it.
 */
export async function moveProviderIdentity(
  trx: Trx,
  { userId, provider, name }: { userId: string; provider: string; name: string },
  to: { name: string; data: UserMetadata },
  now: Date,
): Promise<void> {
  await trx
    .updateTable('identities')
    .set({
      provider_id: to.name,
      identity_data: sql`${storedObject(sql`identity_data`)} || ${JSON.stringify(to.data)}::jsonb`,
      updated_at: now,
    })
    .where('user_id', '=', userId)
    .where('provider', '=', provider)
    .where('provider_id', '=', name)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('identities as taken')
            .select(sql`1`.as('one'))
            .where('taken.user_id', '=', userId)
            .where('taken.provider', '=', provider)
            .where('taken.provider_id', '=', to.name)
            .whereRef('taken.id', '<>', 'identities.id'),
        ),
      ),
    )
    .execute()
  if (name !== to.name) await deleteNamedIdentity(trx, { userId, provider, name })
}

async function deleteNamedIdentity(
  trx: Trx,
  { userId, provider, name }: { userId: string; provider: string; name: string },
): Promise<void> {
  await trx
    .deleteFrom('identities')
    .where('user_id', '=', userId)
    .where('provider', '=', provider)
    .where('provider_id', '=', name)
    .execute()
}

/** An organization, with the role that the groups of the user map to. */
interface ScimOffer extends Selectable<OrganizationsTable> {
  role: string
}

/** Those whose connection has an active user of this account, unless the account is a member. */
export function listScimOffers(db: Db, userId: string): Promise<ScimOffer[]> {
  return db
    .selectFrom('scim_users as u')
    .innerJoin('postern_scim_connections as c', 'c.sso_provider_id', 'u.sso_provider_id')
    .innerJoin('postern_organizations as o', 'o.id', 'c.organization_id')
    .selectAll('o')
    .select((eb) => mappedRole(eb).$notNull().as('role'))
    .where('u.user_id', '=', userId)
    .where('u.deleted_at', 'is', null)
    .where('u.active', '=', true)
    .where('c.enabled', '=', true)
    .where('o.scim_join', '=', true)
    .where('o.deleted_at', 'is', null)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('postern_organization_members as m')
            .select('m.user_id')
            .whereRef('m.organization_id', '=', 'o.id')
            .where('m.user_id', '=', userId),
        ),
      ),
    )
    .orderBy('o.created_at')
    .execute()
}
