/** The kinds of link, and everything about a kind that is not its mail. */
import type { TokenType } from '../../../db/one-time-tokens.ts'
import type { AuthenticationMethod } from '../sessions/draft.ts'

export type LinkKind =
  | 'confirmation'
  | 'invite'
  | 'recovery'
  | 'magic_link'
  | 'email_change_new'
  | 'email_change_current'

/** The `type` a link carries and /verify reads. */
export type VerificationType = 'signup' | 'invite' | 'recovery' | 'magiclink' | 'email_change'

export interface LinkFacts {
  tokenType: TokenType
  verificationType: VerificationType
  /** Ends the name of the setting AUTH_MAILER_URLPATHS_<path>. */
  path: 'CONFIRMATION' | 'INVITE' | 'RECOVERY' | 'EMAIL_CHANGE'
  /** The method of the flow that a PKCE client waits for; an invitation starts none. */
  flowMethod: AuthenticationMethod | undefined
}

export const linkKinds: Record<LinkKind, LinkFacts> = {
  confirmation: {
    tokenType: 'confirmation_token',
    verificationType: 'signup',
    path: 'CONFIRMATION',
    flowMethod: 'email/signup',
  },
  invite: {
    tokenType: 'confirmation_token',
    verificationType: 'invite',
    path: 'INVITE',
    flowMethod: undefined,
  },
  recovery: {
    tokenType: 'recovery_token',
    verificationType: 'recovery',
    path: 'RECOVERY',
    flowMethod: 'recovery',
  },
  magic_link: {
    tokenType: 'recovery_token',
    verificationType: 'magiclink',
    path: 'RECOVERY',
    flowMethod: 'magiclink',
  },
  email_change_new: {
    tokenType: 'email_change_token_new',
    verificationType: 'email_change',
    path: 'EMAIL_CHANGE',
    flowMethod: 'email_change',
  },
  email_change_current: {
    tokenType: 'email_change_token_current',
    verificationType: 'email_change',
    path: 'EMAIL_CHANGE',
    flowMethod: 'email_change',
  },
}

/** The method of the flow that a verified link of this type belongs to. */
export function flowMethodOf(type: string): AuthenticationMethod {
  const kind = Object.values(linkKinds).find((facts) => facts.verificationType === type)
  return kind?.flowMethod ?? 'otp'
}
