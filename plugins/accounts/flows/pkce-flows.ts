/** Authorization-code flows (RFC 7636) between the step that proves a person and the client that waits for it. */
import type { Db, Trx } from '../../../db/database.ts'
import { type FlowStateRow, insertFlowState, issueAuthCode } from '../../../db/flow-states.ts'
import { flowStateMissing } from '../../../errors.ts'
import type { House } from '../../define-plugin.ts'
import type { AuthenticationMethod } from '../sessions/draft.ts'
import { answersChallenge, type Pkce } from './pkce.ts'

/** A flow ends in a code, which is never a password. */
type FlowMethod = Exclude<AuthenticationMethod, 'password'>

const methods: readonly FlowMethod[] = [
  'recovery',
  'magiclink',
  'email/signup',
  'email_change',
  'invite',
  'oauth',
]

/**
 * Remembers the challenge, so that the opened link can end in a code for the client that asked.
 * Does nothing for a client without PKCE, and for a link whose kind starts no flow.
 */
export async function start(
  db: Db,
  method: AuthenticationMethod | undefined,
  userId: string,
  pkce: Pkce | undefined,
  now: Date,
): Promise<void> {
  if (!pkce || !method) return
  const flow = {
    id: crypto.randomUUID(),
    user_id: userId,
    // Replaced when the link is opened here; GoTrue gives out the one that the flow began with.
    auth_code: crypto.randomUUID(),
    code_challenge: pkce.challenge,
    code_challenge_method: pkce.method,
    provider_type: 'email',
    authentication_method: method,
  }
  await insertFlowState(db, flow, now)
}

/** The code for the client that started the person's newest flow of this method. Throws flow_state_not_found. */
export async function issueCode(
  trx: Trx,
  userId: string,
  method: AuthenticationMethod,
  now: Date,
): Promise<string> {
  const code = await issueAuthCode(trx, userId, method, crypto.randomUUID(), now)
  if (!code) throw flowStateMissing()
  return code
}

/** True when the verifier is the one whose challenge started the flow. */
export function isAnswered(flow: FlowStateRow, verifier: string): boolean {
  const { code_challenge: challenge, code_challenge_method: method } = flow
  if (!challenge || !method) return false
  return answersChallenge(verifier, { challenge, method })
}

/** How the person was proven, for the session's `amr`. */
export function methodOf({ authentication_method }: FlowStateRow): FlowMethod {
  return methods.find((method) => method === authentication_method) ?? 'otp'
}

/** What an external provider gave along, for clients that call it. */
export function providerTokens({ encryption }: House<'encryption'>, flow: FlowStateRow) {
  const open = (token: string | null) =>
    token && encryption.decrypt(flow.id, token, "A provider's token")
  const access = open(flow.provider_access_token)
  const refresh = open(flow.provider_refresh_token)
  return {
    ...(access && { provider_token: access }),
    ...(refresh && { provider_refresh_token: refresh }),
  }
}
