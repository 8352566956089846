/** A provisioned group of an organization. */
import {
  insertBareProvider,
  insertScimConnection,
  replaceRoleMapping,
} from '../../../db/scim/connections.ts'
import { insertScimGroup } from '../../../db/scim/groups.ts'
import type { App } from '../server.ts'

/** Inserts a SCIM connection with one group, whose members get the role. Returns the id of the group. */
export async function insertGroup(
  { db }: App,
  organizationId: string,
  { name, role }: { name: string; role: string },
): Promise<string> {
  const now = new Date()
  const [connectionId, id] = [crypto.randomUUID(), crypto.randomUUID()]
  const connection = { sso_provider_id: connectionId, organization_id: organizationId, name }
  await db.transaction().execute(async (trx) => {
    await insertBareProvider(trx, connectionId, now)
    await insertScimConnection(trx, { ...connection, default_role: 'member', enabled: true }, now)
    await replaceRoleMapping(trx, connectionId, [{ group_name: name.toLowerCase(), role }])
    await insertScimGroup(trx, { connectionId, id }, { displayName: name }, now)
  })
  return id
}
