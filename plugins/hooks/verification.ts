/** PASSWORD_VERIFICATION_ATTEMPT and MFA_VERIFICATION_ATTEMPT: the operator's word on a guess that was just judged. */
import type { HookAnswer, HookCaller } from './caller.ts'

export interface Attempted {
  user_id: string
  /** Whether it was right. */
  valid: boolean
}

export interface AttemptedFactor extends Attempted {
  factor_id: string
  factor_type: string
}

export interface Verdict {
  isRejected: boolean
  /** For the client; undefined when the hook has none. */
  message: string | undefined
  /** The hook wants all sessions of the person ended. Only a password's can ask for it. */
  endsSessions: boolean
}

/** Throws HookError. */
export function judgeAttempt<Guess extends Attempted>(call: HookCaller) {
  return async (guess: Guess, ip: string): Promise<Verdict> => toVerdict(await call(guess, { ip }))
}

function toVerdict({ decision, message, should_logout_user }: HookAnswer): Verdict {
  return {
    isRejected: decision === 'reject',
    message: typeof message === 'string' && message !== '' ? message : undefined,
    endsSessions: should_logout_user === true,
  }
}
