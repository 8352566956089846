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
