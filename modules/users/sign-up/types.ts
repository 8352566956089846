import type { UserMetadata } from '../../../db/tables/users.ts'
import type { PendingSignUpData } from '../../../db/users/pending-sign-ups.ts'
import type { UserRecord } from '../../../db/users/users.ts'
import type { LinkContext } from '../../otp/links.ts'
import type { LoginIdentifier } from './user-data.ts'

/** The known data of the account. */
export interface NewUserClaims {
  aud: string
  email?: string | null
  phone?: string | null
  userMetadata: UserMetadata
  appMetadata: UserMetadata
  isAnonymous?: boolean
}

/** The user who signs up. */
export interface SignUpContact {
  contact: LoginIdentifier
  aud: string
  data: UserMetadata
}

/** The permit for one account. */
export interface CreationPermit {
  /** The id of the new account. */
  userId: string
  /** The IP address of the requester; null for an admin, for whom no hook is called. */
  ip: string | null
}

export interface SignUpResult {
  /** The user in the response. */
  user: UserRecord
  /** Data that is applied after the verification; see `storePendingSignUp`. */
  claim?: PendingSignUpData & Pick<SignUpInput, 'byAdmin'>
}

/** A sign-up, a sign-up by requested code, or an invitation. */
export interface SignUpInput {
  contact: LoginIdentifier
  aud: string
  passwordHash: string | null
  data: UserMetadata
  /** For a new account; undefined for an existing one. */
  permit: CreationPermit | undefined
  /** Only an admin may replace an invitation with a new link. */
  byAdmin: boolean
}

export interface EmailSignUp extends AutoconfirmedSignUp {
  context: LinkContext
}

/** The identifier had an owner before the transaction. */
export interface Repeated {
  /** The stored hash that matched; null for a wrong password and for a verified or invited account. */
  matchedHash: string | null
}

export type SignUpOutcome =
  | { state: 'confirmed'; user: UserRecord }
  | { state: 'confirmation_required'; user: UserRecord }
  /** The identifier is in use. The client may learn it only where every sign-up is autoconfirmed. */
  | { state: 'taken'; reveal: true }
  | { state: 'taken'; reveal: false; dummy: UserRecord }

export interface AutoconfirmedSignUp {
  user: SignUpInput
  /** The result of `findRepeatedSignUp`. */
  repeated: Repeated | undefined
  ip: string
}
