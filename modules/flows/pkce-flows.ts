/** Authorization code flows with PKCE (RFC 7636), between the verification of a user and the code exchange. */
import type { FastifyInstance } from 'fastify'

import type { Db, Trx } from '../../db/core/database.ts'
import { type FlowStateRow, insertFlowState, issueAuthCode } from '../../db/flows/flow-states.ts'
import type { AmrMethod } from '../../db/tables/sessions.ts'
import { flowStateMissing } from '../../schemas/errors.ts'
import type { Pkce } from '../otp/link-context.ts'
import { matchesCodeChallenge } from './pkce.ts'

/** A flow issues a code; its method is never `password`. */
type FlowMethod = Exclude<AmrMethod, 'password'>

const methods: readonly FlowMethod[] = [
  'recovery',
  'magiclink',
  'email/signup',
  'email_change',
  'invite',
  'oauth',
  'sso/saml',
]

/**
 * Stores the challenge, so that the link can issue a code for the client. Does nothing for a client without PKCE, and
 * for a type of link without a flow.
 */
export async function startPkceFlow(
  db: Db,
  method: AmrMethod | undefined,
  userId: string,
  pkce: Pkce | undefined,
  now: Date,
): Promise<void> {
  if (!pkce || !method) return
  const flow = {
    id: crypto.randomUUID(),
    user_id: userId,
    // Replaced when the link is opened here; GoTrue issues the initial one.
    auth_code: crypto.randomUUID(),
    code_challenge: pkce.challenge,
    code_challenge_method: pkce.method,
    provider_type: 'email',
    authentication_method: method,
  }
  await insertFlowState(db, flow, now)
}

/** Issues the code of the user's newest flow of this method. Throws flow_state_not_found. */
export async function issuePkceCode(
  trx: Trx,
  userId: string,
  method: AmrMethod,
  now: Date,
): Promise<string> {
  const code = await issueAuthCode(trx, userId, method, crypto.randomUUID(), now)
  if (!code) throw flowStateMissing()
  return code
}

/** True when the verifier matches the challenge of the flow. */
export function isVerifierValid(
  flow: Pick<FlowStateRow, 'code_challenge' | 'code_challenge_method'>,
  verifier: string,
): boolean {
  const { code_challenge: challenge, code_challenge_method: method } = flow
  if (!challenge || !method) return false
  return matchesCodeChallenge(verifier, { challenge, method })
}

/** The authentication method for the session's `amr`. */
export function getFlowMethod({ authentication_method }: FlowStateRow): FlowMethod {
  return methods.find((method) => method === authentication_method) ?? 'otp'
}

/** The provider's tokens, for clients that call its API. */
export function decryptProviderTokens({ encryption }: FastifyInstance, flow: FlowStateRow) {
  const open = (token: string | null) =>
    token && encryption.decrypt(flow.id, token, "A provider's token")
  const access = open(flow.provider_access_token)
  const refresh = open(flow.provider_refresh_token)
  return {
    ...(access && { provider_token: access }),
    ...(refresh && { provider_refresh_token: refresh }),
  }
}
