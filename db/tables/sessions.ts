/** Sessions with their tokens, proofs and devices, and the sessions of the hosted pages. */
import type { Generated } from 'kysely'

export interface Impersonation {
  /** The admin who impersonates the user; null for an ordinary session. */
  impersonated_by: string | null
}

export interface ImpersonationsTable {
  session_id: string
  impersonated_by: string
}

export interface SessionsTable {
  id: string
  user_id: string
  created_at: Date | null
  updated_at: Date | null
  factor_id: string | null
  aal: Aal | null
  not_after: Date | null
  /** Without a time zone in the database; UTC by convention. */
  refreshed_at: Date | null
  user_agent: string | null
  ip: string | null
  tag: string | null
  /** The OAuth client of the session. */
  oauth_client_id: string | null
  /** The scopes of the OAuth client, separated by blanks. */
  scopes: string | null
  refresh_token_hmac_key: string | null
  refresh_token_counter: Generated<number | null>
}

export type Aal = 'aal1' | 'aal2' | 'aal3'

/** Refresh tokens of GoTrue's older format, one row each; also written for sessions that GoTrue may refresh. */
export interface RefreshTokensTable {
  id: Generated<number>
  instance_id: string | null
  token: string | null
  user_id: string | null
  revoked: boolean | null
  parent: string | null
  session_id: string | null
  created_at: Date | null
  updated_at: Date | null
}

export interface KnownDevicesTable {
  user_id: string
  /** A keyed hash of network and user agent. */
  device_hash: string
  last_used_at: Date
}

export interface SignInDevicesTable {
  user_id: string
  /** Browser and system without versions; empty for an unknown client. */
  device: string
  last_used_at: Date
}

/** Authentication methods, the values of `amr`. */
export type AmrMethod =
  | 'password'
  | 'otp'
  | 'anonymous'
  | 'oauth'
  | 'recovery'
  | 'magiclink'
  | 'email/signup'
  | 'email_change'
  | 'invite'
  | 'passkey'
  | 'impersonation'
  | 'web3'
  | 'sso/saml'
  | 'oauth_provider/authorization_code'
  | 'oauth_provider/device_code'

/** How sessions were authenticated, and new sign-in methods, for which GoTrue has no columns. */
export interface SessionProofsTable {
  session_id: string
  /** The session was created with an SMS code: its amr says `otp`, as for a code by email. */
  by_sms: boolean
  /** The last reauthentication by password or code in this session. */
  reauthenticated_at: Date | null
  /** The pending email change was requested in this session, which survives it. */
  asks_email_change: boolean
}

/** What a user can sign in with. */
export type SignInMethod = 'password' | 'email' | 'phone' | 'identity' | 'passkey' | 'factor'

export interface NewSignInMethodsTable {
  user_id: string
  method: SignInMethod
  added_at: Date
  /** The email before a change: it gets security notifications too while the change is new. */
  previous_address: string | null
}

/** Sessions of the hosted pages: a cookie and its session. */
export interface PageSessionsTable {
  /** base64url of the SHA-256 of the cookie. */
  id: string
  session_id: string
  created_at: Date
  last_used_at: Date
  expires_at: Date
}

/** Submitted forms of the hosted pages. Two whose slots are equal share one row: the newer one replaces the other. */
export interface PageSubmissionsTable {
  slot: number
  /** base64url of the HMAC-SHA-256 of the form's path and fields. */
  id: string
  /** Encrypted; null while the first submission runs. */
  answer: string | null
  expires_at: Date
}
