/** Providers bound to organizations. */
import { type Selectable, sql } from 'kysely'

import type { Db, Trx } from '../core/database.ts'
import type { OrganizationConnectionsTable } from '../tables/organizations.ts'

export type ConnectionRow = Selectable<OrganizationConnectionsTable>

const selectConnections = (db: Db) =>
  db
    .selectFrom('postern_organization_connections')
    .leftJoin('custom_oauth_providers', 'custom_oauth_providers.id', 'custom_provider_id')
    .selectAll('postern_organization_connections')
    .select('custom_oauth_providers.identifier')

export type ListedConnection = Awaited<ReturnType<typeof listConnections>>[number]

export function listConnections(db: Db, organizationId: string) {
  return selectConnections(db)
    .where('organization_id', '=', organizationId)
    .orderBy('postern_organization_connections.created_at')
    .execute()
}

export function findConnection(db: Db, organizationId: string, id: string) {
  return selectConnections(db)
    .where('organization_id', '=', organizationId)
    .where('postern_organization_connections.id', '=', id)
    .executeTakeFirst()
}

/** Enabled connections, with their organization. */
const selectJoining = (db: Db) =>
  selectConnections(db)
    .innerJoin('postern_organizations', 'postern_organizations.id', 'organization_id')
    .select(['postern_organizations.slug', 'postern_organizations.name as organization_name'])
    .where('postern_organization_connections.enabled', '=', true)
    .where('postern_organizations.sso_join', '=', true)
    .where('postern_organizations.deleted_at', 'is', null)

/** By the provider: `sso:` and an id, or a custom provider. */
export function findConnectionByProvider(db: Db, provider: string) {
  const ssoId = /^sso:(.+)$/.exec(provider)?.[1]
  return selectJoining(db)
    .where((eb) =>
      ssoId === undefined
        ? eb('custom_oauth_providers.identifier', '=', provider)
        : eb('sso_provider_id', '=', sql<string>`${ssoId}::uuid`),
    )
    .executeTakeFirst()
}

export function findJoiningConnection(db: Db, id: string) {
  return selectJoining(db).where('postern_organization_connections.id', '=', id).executeTakeFirst()
}

export async function insertConnection(
  trx: Trx,
  { role_mapping, ...connection }: Omit<ConnectionRow, 'created_at' | 'updated_at'>,
  now: Date,
): Promise<void> {
  await trx
    .insertInto('postern_organization_connections')
    .values({
      ...connection,
      role_mapping: JSON.stringify(role_mapping),
      created_at: now,
      updated_at: now,
    })
    .execute()
}

export async function updateConnection(
  trx: Trx,
  id: string,
  {
    role_mapping,
    ...change
  }: Partial<Pick<ConnectionRow, 'name' | 'enabled' | 'default_role' | 'role_mapping'>>,
  now: Date,
): Promise<void> {
  await trx
    .updateTable('postern_organization_connections')
    .set({
      ...change,
      ...(role_mapping && { role_mapping: JSON.stringify(role_mapping) }),
      updated_at: now,
    })
    .where('id', '=', id)
    .execute()
}

export async function deleteConnection(trx: Trx, id: string): Promise<void> {
  await trx.deleteFrom('postern_organization_connections').where('id', '=', id).execute()
}
