/** Ends SAML sign-ins: revokes their sessions and deletes codes that were not exchanged yet. */
import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../db/core/database.ts'
import { deleteFlowState } from '../../db/flows/flow-states.ts'
import {
  listSamlLogins,
  listSamlLoginsOfUser,
  type SamlLogin,
  type SamlPrincipal,
} from '../../db/saml/logins.ts'
import { lockUsers } from '../../db/users/update-user.ts'
import { findUser } from '../../db/users/users.ts'
import { recordAudit } from '../audit/index.ts'
import { revokeSession } from '../sessions/index.ts'

/** All sign-ins that the provider names. Their users are locked first, so that no code is exchanged concurrently. */
export async function endLogins(
  app: FastifyInstance,
  trx: Trx,
  principal: SamlPrincipal,
  ip: string,
  now: Date,
): Promise<void> {
  const known = await listSamlLogins(trx, principal)
  const userIds = [...new Set(known.map(({ user_id }) => user_id))]
  if (userIds.length === 0) return
  await lockUsers(trx, userIds)
  for (const login of await listSamlLogins(trx, principal)) await endLogin(app, trx, login, now)
  const traits = { provider: `sso:${principal.sso_provider_id}`, reason: 'single logout' }
  for (const id of userIds) {
    const user = await findUser(trx, id)
    if (user) await recordAudit(app.audit, trx, 'logout', user, { ip, now, traits })
  }
}

/** The user must be locked. */
export async function endLoginsOfUser(
  app: FastifyInstance,
  trx: Trx,
  of: Pick<SamlLogin, 'sso_provider_id' | 'user_id'>,
  now: Date,
): Promise<void> {
  for (const login of await listSamlLoginsOfUser(trx, of)) await endLogin(app, trx, login, now)
}

async function endLogin(
  app: FastifyInstance,
  trx: Trx,
  { user_id, session_id, flow_id }: SamlLogin,
  now: Date,
): Promise<void> {
  if (session_id) await revokeSession(app, trx, user_id, session_id, now)
  if (flow_id) await deleteFlowState(trx, flow_id)
}
