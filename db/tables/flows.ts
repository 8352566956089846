import type { Generated } from 'kysely'

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
