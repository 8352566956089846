/** One-time tokens, flows, the limits of messages and attempts, and what was accepted once. */
import type { Generated } from 'kysely'

import type { TokenType } from './users.ts'

export interface OneTimeTokensTable {
  id: string
  user_id: string
  token_type: TokenType
  token_hash: string
  relates_to: string
  created_at: Date
  updated_at: Date
}

/** Details of one-time tokens for which GoTrue has no columns. A token of GoTrue's gets a row at the first attempt. */
export interface TokenDetailsTable {
  token_id: string
  /** Null for a token of GoTrue's, whose lifetime starts when it was sent. */
  expires_at: Date | null
  failed_attempts: number
  /** Of a `recovery_token` that only signs in; null for a recovery, and for tokens of GoTrue. */
  purpose: TokenPurpose | null
  /** The admin who got the link instead of its recipient. */
  made_by: string | null
}

export type TokenPurpose = 'sign_in'

/** Dummy rows, written instead of a token that does not exist. */
export interface DummyTokensTable {
  slot: number
  failed_attempts: Generated<string>
}

/** Details of flows for which GoTrue has no columns. */
export interface FlowsTable {
  flow_id: string
  /** The session that started the flow and ends it; null without one. */
  session_id: string | null
  /** Encrypted data of an external sign-in, from its start to its callback. */
  secrets: string | null
}

/** An authorization code flow with PKCE (RFC 7636), by email link or with a provider. */
export interface FlowStateTable {
  id: string
  user_id: string | null
  auth_code: string | null
  code_challenge_method: 's256' | 'plain' | null
  code_challenge: string | null
  provider_type: string
  provider_access_token: Generated<string | null>
  provider_refresh_token: Generated<string | null>
  created_at: Date | null
  updated_at: Date | null
  authentication_method: string
  auth_code_issued_at: Date | null
  invite_token: string | null
  referrer: string | null
  /** The PKCE verifier for the provider, of a flow that GoTrue started or may complete. */
  oauth_client_state_id: string | null
  linking_target_id: string | null
  email_optional: Generated<boolean>
}

/** PKCE verifiers for providers, in plain text as GoTrue stores them. */
export interface OauthClientStatesTable {
  id: string
  provider_type: string
  code_verifier: string | null
  created_at: Date
}

export interface ConsumedCodesTable {
  code_hash: string
  /** The session that the exchange created; deleted with it. */
  session_id: string
  code_challenge: string
  code_challenge_method: 's256' | 'plain'
  consumed_at: Date
}

/** The time of the last message; the key is a keyed hash of the recipient, known user or not. */
export interface SendIntervalsTable {
  key: string
  sent_at: Date
}

/** The key is a keyed hash of the identifier, known user or not. */
export interface ThrottlesTable {
  key: string
  failures: number
  blocked_until: Date | null
  updated_at: Date
  /** Attempts since the start of the day; null in a row of an earlier version. */
  day_failures: Generated<number>
  day_began_at: Date | null
}

/** The remaining messages of a quota, shared by all replicas. */
export interface SendQuotasTable {
  /** The channel and purpose; for a client or recipient, with its keyed hash. */
  channel: string
  tokens: number
  refilled_at: Date
  /** The limit when `tokens` was stored; null in an older row. */
  quota: number | null
}

/** Messages and assertions that were accepted, until they expire. */
export interface ReplaysTable {
  key: string
  expires_at: Date
}
