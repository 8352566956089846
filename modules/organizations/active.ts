/** The active organization of a session, which its access tokens name. */
import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../db/core/database.ts'
import { clearActiveOrganization, setActiveOrganization } from '../../db/organizations/active.ts'
import { findMembership } from '../../db/organizations/members.ts'
import type { SessionRecord } from '../../db/sessions/sessions.ts'
import { organizationNotFound } from '../../schemas/errors.ts'
import { type ChangedBy, recordChange } from './record.ts'

/**
 * Null for no organization. A concurrent removal of the member either sees the row, or makes this transaction fail by a
 * foreign key. Throws organization_not_found.
 */
export async function activateOrganization(
  app: FastifyInstance,
  trx: Trx,
  { session_id, id: user_id }: SessionRecord,
  organizationId: string | null,
  by: ChangedBy,
  now: Date,
): Promise<void> {
  if (organizationId === null) return clearActiveOrganization(trx, session_id)
  const member = await findMembership(trx, organizationId, user_id)
  if (member?.status !== 'active') throw organizationNotFound()
  const organization_id = organizationId
  await setActiveOrganization(trx, { session_id, organization_id, user_id })
  const traits = { organization_id, session_id, user_id }
  await recordChange(app, trx, 'organization_activated', by, traits, now)
}
