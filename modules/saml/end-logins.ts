/** Ends SAML sign-ins: revokes their sessions and deletes codes that were not exchanged yet. */
import type { Trx } from '../../db/core/database.ts'
import { deleteFlowState } from '../../db/flows/flow-states.ts'
import { listSamlLogins, type SamlPrincipal } from '../../db/saml/logins.ts'
import { lockUsers } from '../../db/users/update-user.ts'
import { findUser } from '../../db/users/users.ts'
import type { Deps } from '../../plugins/define-plugin.ts'
import { recordAudit } from '../audit/index.ts'
import { revokeSession } from '../sessions/index.ts'

/** All sign-ins that the provider names. Their users are locked first, so that no code is exchanged concurrently. */
export async function endLogins(
  deps: Deps<'audit' | 'sessions'>,
  trx: Trx,
  principal: SamlPrincipal,
  ip: string,
  now: Date,
): Promise<void> {
  const known = await listSamlLogins(trx, principal)
  const userIds = [...new Set(known.map(({ user_id }) => user_id))]
  if (userIds.length === 0) return
  await lockUsers(trx, userIds)
  for (const { user_id, session_id, flow_id } of await listSamlLogins(trx, principal)) {
    if (session_id) await revokeSession(deps.sessions, trx, user_id, session_id, now)
    if (flow_id) await deleteFlowState(trx, flow_id)
  }
  const traits = { provider: `sso:${principal.sso_provider_id}`, reason: 'single logout' }
  for (const id of userIds) {
    const user = await findUser(trx, id)
    if (user) await recordAudit(deps.audit, trx, 'logout', user, { ip, now, traits })
  }
}
