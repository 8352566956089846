import type { IdentityRow } from '../../db/tables/identities.ts'
import type { UserRecord } from '../../db/users/users.ts'
import type { ProviderIdentity } from '../../plugins/outgoing/oauth-providers/index.ts'
import type { ApiError } from '../../schemas/errors.ts'
import type { LinkContext } from '../otp/links.ts'
import type { CreationPermit } from '../users/sign-up/types.ts'
import type { AccountEmails } from './emails.ts'

/** The purpose of the sign-in. */
export interface SignInPurpose {
  /** The user whom the identity is linked to. */
  linkingTargetId?: string | null | undefined
  /** The session that requested the link. The link is rejected after the session ends. */
  linkingSessionId?: string | null | undefined
  /** The token of an accepted invitation. */
  inviteToken?: string | undefined
}

/** The audit action; linking has a separate entry. */
type SignInAction = 'login' | 'user_signedup' | 'invite_accepted' | 'identity_linked'

export interface SignInContext {
  ip: string
  /** The audience of matched and new accounts. */
  aud: string
  /** For a new account; undefined for an existing one. */
  permit: CreationPermit | undefined
  /**
   * For the confirmation email of an unverified address. Without PKCE, so that its link creates a session: it may be
   * opened in another browser.
   */
  links: LinkContext
}

/** Neither a link nor an invitation. */
export interface SignInAttempt {
  user: CheckedExternalUser
  addresses: AccountEmails
  context: SignInContext
}

/** The provider account and its context. */
export interface ExternalUser {
  provider: string
  identity: ProviderIdentity
  /** Whether this provider may omit the email. */
  emailOptional: boolean
}

/** With what counts of the provider's assertions. */
export interface CheckedExternalUser extends ExternalUser {
  /** A tenant decides what the provider asserts. */
  isOfTenant: boolean
}

export interface AcceptedSignIn {
  state: 'accepted'
  user: UserRecord
  action: SignInAction
}

export type SignInOutcome =
  | AcceptedSignIn
  /** Thrown after the commit: what was written must stay. */
  | { state: 'rejected'; error: ApiError }

/** The account, with the existing identity if there was one. */
export type MatchedAccount =
  | { isNew: false; user: UserRecord; identity: IdentityRow }
  | { isNew: true; user: UserRecord }
