/** The organization of a new development database. */
import type { FastifyInstance } from 'fastify'

import { listAllOrganizations } from '../../db/organizations/organizations.ts'
import { adminActor } from '../../modules/audit/index.ts'
import {
  addDomain,
  changeOrganization,
  createOrganization,
  markVerified,
} from '../../modules/organizations/index.ts'

/** Users with an address of this domain become members. No mail can be sent to it (RFC 2606). */
const domain = 'example.com'

const slug = 'example'

/** Creates the organization Example in a database that has never had one. Returns whether it exists. */
export async function createSampleOrganization(app: FastifyInstance, now: Date): Promise<boolean> {
  const { db, config } = app
  if (!config.AUTH_ORGANIZATIONS_ENABLED) return false
  const search = { search: slug, deleted: false }
  const found = await listAllOrganizations(db, search, 100)
  if (found.some((one) => one.slug === slug)) return true
  for (const deleted of [false, true]) {
    if ((await listAllOrganizations(db, { deleted }, 1)).length > 0) return false
  }
  const by = { actor: adminActor('service_role'), ip: '' }
  await db.transaction().execute(async (trx) => {
    const values = { name: 'Example', slug }
    const { id: organizationId } = await createOrganization(app, trx, values, null, by, now)
    const { id } = await addDomain(app, trx, { organizationId, domain }, by, now)
    await markVerified(app, trx, { organizationId, id, how: 'admin' }, by, now)
    await changeOrganization(app, trx, organizationId, { domain_join: 'automatic' }, by, now)
  })
  return true
}
