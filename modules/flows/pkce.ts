/** Authorization code flows with PKCE (RFC 7636), between the verification of a user and the code exchange. */
import { createHash } from 'node:crypto'

import type { FastifyInstance, FastifyRequest } from 'fastify'

import type { Db, Trx } from '../../db/core/database.ts'
import {
  type FlowStateRow,
  findConsumedCode,
  insertConsumedCode,
  insertFlowState,
  issueAuthCode,
} from '../../db/flows/flow-states.ts'
import type { AmrMethod } from '../../db/tables/sessions.ts'
import { flowStateMissing, validationFailed } from '../../schemas/errors.ts'
import { isEqualInConstantTime } from '../../schemas/values/constant-time.ts'
import type { LinkContext, Pkce } from '../otp/links.ts'
import { resolveTarget } from './redirects/index.ts'

export interface PkceInput {
  code_challenge?: string
  code_challenge_method?: string
}

/** Reads both PKCE fields. Throws validation_failed when one is missing or malformed. */
export function readPkce(fields: PkceInput): Pkce | undefined {
  const { code_challenge: challenge, code_challenge_method: method } = fields
  if (!challenge && !method) return undefined
  if (!challenge || !method) {
    throw validationFailed('PKCE flow requires code_challenge_method and code_challenge')
  }
  if (challenge.length < 43 || challenge.length > 128) {
    throw validationFailed('code challenge has to be between 43 and 128 characters')
  }
  if (!/^[A-Za-z0-9._~-]+$/.test(challenge)) {
    throw validationFailed('code challenge can only contain the characters A-Z a-z 0-9 . _ ~ -')
  }
  const name = method.toLowerCase()
  if (name !== 's256' && name !== 'plain') {
    throw validationFailed('code_challenge_method has to be s256 or plain')
  }
  // A plain challenge is the verifier itself and is stored with the code: it is hashed.
  return { challenge: name === 'plain' ? s256(challenge) : challenge, method: 's256' }
}

function s256(verifier: string): string {
  return createHash('sha256').update(verifier).digest('base64url')
}

/** Compares a verifier with its challenge in constant time (RFC 7636 §4.6). */
export function matchesCodeChallenge(verifier: string, { challenge, method }: Pkce): boolean {
  const computed = method === 's256' ? s256(verifier) : verifier
  return isEqualInConstantTime(computed, challenge)
}

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

/**
 * Records the session of the exchanged code. Auth codes are single use (RFC 6749 §4.1.2): reuse means that a code was
 * copied, and its session is revoked.
 */
export async function rememberConsumedCode(
  trx: Trx,
  { auth_code, code_challenge, code_challenge_method }: FlowStateRow,
  sessionId: string,
  now: Date,
): Promise<void> {
  if (!auth_code || !code_challenge || !code_challenge_method) return
  await insertConsumedCode(trx, {
    code_hash: hashCode(auth_code),
    session_id: sessionId,
    code_challenge,
    code_challenge_method,
    consumed_at: now,
  })
}

/**
 * Returns the session of a reused code, when it comes with its verifier. Undefined without the verifier, as a code
 * alone must not revoke a session.
 */
export async function findIssuedSession(
  trx: Trx,
  code: string,
  verifier: string,
): Promise<{ userId: string; sessionId: string } | undefined> {
  const consumed = await findConsumedCode(trx, hashCode(code))
  if (!consumed) return undefined
  const { code_challenge: challenge, code_challenge_method: method } = consumed
  if (!matchesCodeChallenge(verifier, { challenge, method })) return undefined
  return { userId: consumed.user_id, sessionId: consumed.session_id }
}

function hashCode(code: string): string {
  return createHash('sha256').update(code).digest('hex')
}

/**
 * The parts of a request that its links need. `redirectTo` takes precedence over that of the request. Throws validation_failed for incomplete or malformed PKCE
 * fields.
 */
export function readLinkContext(
  app: FastifyInstance,
  request: FastifyRequest,
  fields: PkceInput,
  redirectTo?: string,
): LinkContext {
  return {
    redirectTo: resolveTarget(app, request, redirectTo),
    baseUrl: app.mailer.baseUrl(request.headers),
    pkce: readPkce(fields),
    network: request.sendingNetwork,
  }
}
