import type { FastifyInstance } from 'fastify'

import { type FlowStateRow, findFlowStateByCode, takeFlowState } from '../../../db/flow-states.ts'
import { isBanned } from '../../../db/users.ts'
import {
  badCodeVerifier,
  flowStateExpired,
  flowStateNotFound,
  userBanned,
  validationFailed,
} from '../../../errors.ts'
import type { Grant } from './grant.ts'

/** The authorization code with its verifier (RFC 7636 §4.5); a wrong verifier leaves the code for its owner. */
export function pkceGrant(fastify: FastifyInstance): Grant {
  const { audit, config, db, flows, sessions, users } = fastify
  const lifetimeMs = config.AUTH_EXTERNAL_FLOW_STATE_EXPIRY_DURATION * 1000

  return async ({ auth_code, code_verifier }, { client, clientIp }, now) => {
    if (!auth_code || !code_verifier) {
      throw validationFailed(
        'invalid request: both auth code and code verifier should be non-empty',
      )
    }
    const { opened, flow } = await db.transaction().execute(async (trx) => {
      const flow = await findFlowStateByCode(trx, auth_code)
      if (!flow?.user_id) throw flowStateNotFound()
      if (isExpired(flow, now)) throw flowStateExpired()
      if (!flows.isAnswered(flow, code_verifier)) throw badCodeVerifier()
      // The person before the flow: so does whoever ends their sessions, and two in a circle would wait for ever.
      const user = await users.lock(trx, flow.user_id)
      if (!user || user.deleted_at) throw flowStateNotFound()
      if (isBanned(user, now)) throw userBanned(403)
      if (!(await takeFlowState(trx, flow))) throw flowStateNotFound()
      const entry = audit.entry('login', user, clientIp, { provider: flow.provider_type })
      const method = flows.methodOf(flow)
      const proof = { method, client, audit: entry }
      return { opened: await sessions.open(trx, user, proof, now), flow }
    })
    return { ...(await sessions.answer(opened, now)), ...flows.providerTokens(flow) }
  }

  /** Counted from when the code was issued: somebody may read their mail late. */
  function isExpired({ auth_code_issued_at }: FlowStateRow, now: Date): boolean {
    return now.getTime() - (auth_code_issued_at?.getTime() ?? 0) > lifetimeMs
  }
}
