/** Types of links, and their properties apart from the email. */
import type { AmrMethod } from '../../db/tables/sessions.ts'
import type { TokenPurpose, TokenType } from '../../db/tokens/one-time-tokens.ts'

export type LinkKind =
  | 'confirmation'
  | 'invite'
  | 'recovery'
  | 'magic_link'
  | 'email_change_new'
  | 'email_change_current'

/** The `type` of a link, read by /verify. */
export type VerificationType = 'signup' | 'invite' | 'recovery' | 'magiclink' | 'email_change'

export interface LinkKindDefinition {
  tokenType: TokenType
  /** Where one token type is for two purposes. */
  purpose?: TokenPurpose
  verificationType: VerificationType
  /** The suffix of the setting AUTH_MAILER_URLPATHS_<path>. */
  path: 'CONFIRMATION' | 'INVITE' | 'RECOVERY' | 'EMAIL_CHANGE'
  /** The method of the client's PKCE flow; an invitation has none. */
  flowMethod: AmrMethod | undefined
}

export const linkKinds: Record<LinkKind, LinkKindDefinition> = {
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
    purpose: 'sign_in',
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

/** The flow method of a verified link type. */
export function getLinkMethod(type: string): AmrMethod {
  const kind = Object.values(linkKinds).find((facts) => facts.verificationType === type)
  return kind?.flowMethod ?? 'otp'
}
