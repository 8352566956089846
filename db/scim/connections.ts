/** SCIM connections, their role mappings and their tokens, of which only hashes are stored. */
import { type Selectable, sql, type Updateable } from 'kysely'
import { jsonArrayFrom } from 'kysely/helpers/postgres'

import type { Db, Trx } from '../core/database.ts'
import { lockName } from '../core/locks.ts'
import { type ParamOf, queryOne } from '../core/statement.ts'
import { isVerifiedDomainAmong } from '../organizations/domains.ts'
import type { ScimConnectionsTable, ScimRoleMappingsTable } from '../tables/scim.ts'
import { isDomainOfSso } from './provider-domains.ts'

type RoleMapping = Pick<Selectable<ScimRoleMappingsTable>, 'group_name' | 'role'>

export interface ScimConnectionRow extends Selectable<ScimConnectionsTable> {
  /** Its users sign in by SAML at this provider. */
  has_saml: boolean
  /** In the order of their priority. */
  role_mapping: RoleMapping[]
}

const selectConnection = (db: Pick<Db, 'selectFrom'>) =>
  db
    .selectFrom('postern_scim_connections')
    .selectAll('postern_scim_connections')
    .select((eb) => [
      eb
        .exists(
          eb
            .selectFrom('saml_providers')
            .select('saml_providers.id')
            .whereRef(
              'saml_providers.sso_provider_id',
              '=',
              'postern_scim_connections.sso_provider_id',
            ),
        )
        .$castTo<boolean>()
        .as('has_saml'),
      jsonArrayFrom(
        eb
          .selectFrom('postern_scim_role_mappings as mapping')
          .select(['mapping.group_name', 'mapping.role'])
          .whereRef('mapping.sso_provider_id', '=', 'postern_scim_connections.sso_provider_id')
          .orderBy('mapping.priority'),
      ).as('role_mapping'),
    ])

const byId = queryOne((db, value: ParamOf<{ id: string }>) =>
  selectConnection(db).where('postern_scim_connections.sso_provider_id', '=', value('id')),
)

export function findScimConnection(db: Db, id: string): Promise<ScimConnectionRow | undefined> {
  return byId(db, { id })
}

/** Oldest first. */
export function listScimConnections(db: Db): Promise<ScimConnectionRow[]> {
  return selectConnection(db).orderBy('created_at').orderBy('sso_provider_id').execute()
}

const authenticated = queryOne(
  (db, value: ParamOf<{ connectionId: string; tokenHash: string; now: Date; usedBefore: Date }>) =>
    db
      .with('token', (eb) =>
        eb
          .selectFrom('scim_tokens')
          .select(['scim_tokens.id', 'scim_tokens.last_used_at'])
          .where('token_hash', '=', value('tokenHash'))
          .where('sso_provider_id', '=', value('connectionId'))
          .where('revoked_at', 'is', null)
          .where(sql<boolean>`coalesce(expires_at > ${value('now')}, true)`),
      )
      .with('used', (eb) =>
        eb
          .updateTable('scim_tokens')
          .from('token')
          .set({ last_used_at: value('now') })
          .whereRef('scim_tokens.id', '=', 'token.id')
          .where(sql<boolean>`coalesce(token.last_used_at < ${value('usedBefore')}, true)`),
      )
      .selectFrom(selectConnection(db).as('connection'))
      .innerJoin('sso_providers', 'sso_providers.id', 'connection.sso_provider_id')
      .leftJoin('postern_organizations', 'postern_organizations.id', 'connection.organization_id')
      .selectAll('connection')
      .select(
        sql<boolean>`coalesce(sso_providers.disabled, false) or postern_organizations.deleted_at is not null`.as(
          'is_disabled',
        ),
      )
      .where('connection.sso_provider_id', '=', value('connectionId'))
      .where(sql<boolean>`exists (select from token)`),
)

const usedInterval = 60_000

/**
 * Finds the connection of a valid token, and records the use of the token once a minute. A connection is disabled
 * together with its provider or organization.
 */
export function findAuthenticatedConnection(
  db: Db,
  { connectionId, tokenHash }: { connectionId: string; tokenHash: string },
  now: Date,
): Promise<(ScimConnectionRow & { is_disabled: boolean }) | undefined> {
  const usedBefore = new Date(now.getTime() - usedInterval)
  return authenticated(db, { connectionId, tokenHash, now, usedBefore })
}

/** The provider of a connection without single sign-on: GoTrue's tables refer to one. */
export async function insertBareProvider(trx: Trx, id: string, now: Date): Promise<void> {
  const times = { created_at: now, updated_at: now }
  await trx
    .insertInto('sso_providers')
    .values({ id, resource_id: null, disabled: false, ...times })
    .execute()
}

type NewConnection = Omit<Selectable<ScimConnectionsTable>, 'created_at' | 'updated_at'>

/** Returns false when the provider has one already. */
export async function insertScimConnection(
  trx: Trx,
  connection: NewConnection,
  now: Date,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('postern_scim_connections')
    .values({ ...connection, created_at: now, updated_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return (numInsertedOrUpdatedRows ?? 0n) > 0n
}

export async function updateScimConnection(
  trx: Trx,
  id: string,
  change: Pick<Updateable<ScimConnectionsTable>, 'name' | 'default_role' | 'enabled'>,
  now: Date,
): Promise<void> {
  await trx
    .updateTable('postern_scim_connections')
    .set({ ...change, updated_at: now })
    .where('sso_provider_id', '=', id)
    .execute()
}

/** Replaces the mapping; earlier entries have priority. */
export async function replaceRoleMapping(
  trx: Trx,
  id: string,
  mapping: readonly RoleMapping[],
): Promise<void> {
  await trx.deleteFrom('postern_scim_role_mappings').where('sso_provider_id', '=', id).execute()
  if (mapping.length === 0) return
  const rows = mapping.map((entry, priority) => ({ sso_provider_id: id, ...entry, priority }))
  await trx.insertInto('postern_scim_role_mappings').values(rows).execute()
}

/**
 * Deletes the connection with its users, groups and tokens. The accounts are kept, and so is a provider of sign-ins.
 */
export async function deleteScimConnection(
  trx: Trx,
  { sso_provider_id: id, has_saml }: Pick<ScimConnectionRow, 'sso_provider_id' | 'has_saml'>,
): Promise<void> {
  if (!has_saml) {
    await trx.deleteFrom('sso_providers').where('id', '=', id).execute()
    return
  }
  await trx.deleteFrom('scim_tokens').where('sso_provider_id', '=', id).execute()
  await trx.deleteFrom('scim_users').where('sso_provider_id', '=', id).execute()
  await trx.deleteFrom('postern_scim_connections').where('sso_provider_id', '=', id).execute()
}

/** Whether a domain was verified: for the organization, which is not deleted, or by an admin for the provider. */
export function isVerifiedDomain(
  db: Db,
  {
    sso_provider_id,
    organization_id,
  }: Pick<ScimConnectionRow, 'sso_provider_id' | 'organization_id'>,
  domain: string,
): Promise<boolean> {
  return organization_id
    ? isVerifiedDomainAmong(db, [organization_id], domain)
    : isDomainOfSso(db, sso_provider_id, domain)
}

interface ScimTokenRow {
  id: string
  name: string
  prefix: string
  created_at: Date
  expires_at: Date | null
  revoked_at: Date | null
  last_used_at: Date | null
}

interface NewScimToken {
  id: string
  sso_provider_id: string
  name: string
  token_hash: string
  prefix: string
  expires_at: Date | null
}

/** Oldest first, revoked and expired ones as well. */
export async function listScimTokens(db: Db, connectionId: string): Promise<ScimTokenRow[]> {
  const rows = await db
    .selectFrom('scim_tokens')
    .leftJoin('postern_scim_tokens', 'postern_scim_tokens.token_id', 'scim_tokens.id')
    .select(['id', 'name', 'prefix', 'created_at', 'expires_at', 'revoked_at', 'last_used_at'])
    .where('sso_provider_id', '=', connectionId)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return rows.map((row) => ({ ...row, name: row.name ?? '' }))
}

export async function insertScimToken(
  trx: Trx,
  { name, ...token }: NewScimToken,
  now: Date,
): Promise<void> {
  await trx
    .insertInto('scim_tokens')
    .values({ ...token, created_at: now, revoked_at: null, last_used_at: null })
    .execute()
  await trx.insertInto('postern_scim_tokens').values({ token_id: token.id, name }).execute()
}

/** Returns false when the connection has no such token that was not revoked. */
export async function revokeScimToken(
  trx: Trx,
  { connectionId, id }: { connectionId: string; id: string },
  now: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('scim_tokens')
    .set({ revoked_at: now })
    .where('id', '=', id)
    .where('sso_provider_id', '=', connectionId)
    .where('revoked_at', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/**
 * Until the transaction ends: changes by clients are shared, the end of their access is exclusive. Not a row lock, for
 * which the exclusive one would wait as long as a client sends requests.
 */
export async function lockScimAccess(
  trx: Trx,
  connectionId: string,
  mode: 'shared' | 'exclusive',
): Promise<void> {
  await lockName(trx, `scim ${connectionId.toLowerCase()}`, mode)
}
