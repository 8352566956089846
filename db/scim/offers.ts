/** Organizations that a user may join because a SCIM client provisioned them. */
import type { Selectable } from 'kysely'

import type { Db } from '../core/database.ts'
import type { OrganizationsTable } from '../tables/organizations.ts'
import { mappedRole } from './access.ts'

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
