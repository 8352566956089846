/** PASSWORD_VERIFICATION_ATTEMPT and MFA_VERIFICATION_ATTEMPT: the operator's decision about a verified attempt. */
import type { HookCaller, HookResponse } from './caller.ts'

export interface HookAttempt {
  user_id: string
  /** Whether the attempt was correct. */
  valid: boolean
}

export interface AttemptedFactor extends HookAttempt {
  factor_id: string
  factor_type: string
}

interface HookDecision {
  isRejected: boolean
  /** For the client; undefined when the hook sends none. */
  message: string | undefined
  /** The hook requests that all sessions of the user be revoked. Only the password hook can. */
  endsSessions: boolean
}

/** Throws HookError. */
export function callVerificationHook<Attempt extends HookAttempt>(call: HookCaller) {
  return async (attempt: Attempt, ip: string): Promise<HookDecision> =>
    toDecision(await call(attempt, { ip }))
}

function toDecision({ decision, message, should_logout_user }: HookResponse): HookDecision {
  return {
    isRejected: decision === 'reject',
    message: typeof message === 'string' && message !== '' ? message : undefined,
    endsSessions: should_logout_user === true,
  }
}
