/** Tables of the OAuth server: GoTrue's three, and ours. */
import type { ColumnType, Generated } from 'kysely'

/** A JSON column: written as text, read as a value. */
type Json<T> = ColumnType<T, string, string>

export interface OauthClientsTable {
  id: string
  /** base64url of the SHA-256 of the secret; null for clients without one. */
  client_secret_hash: string | null
  registration_type: 'dynamic' | 'manual'
  /** Comma-joined. */
  redirect_uris: string
  /** Comma-joined. */
  grant_types: string
  client_name: string | null
  client_uri: string | null
  logo_uri: string | null
  created_at: Date
  updated_at: Date
  deleted_at: Date | null
  client_type: 'public' | 'confidential'
  token_endpoint_auth_method: 'client_secret_basic' | 'client_secret_post' | 'none'
}

/** Settings for which GoTrue's table has no column. */
export interface OauthClientSettings {
  /** Set when GoTrue does not know the method. */
  token_endpoint_auth_method?: 'private_key_jwt'
  jwks?: { keys: Record<string, unknown>[] }
  jwks_uri?: string
  /** False: authorization requests may come without a code challenge. */
  require_pkce?: boolean
  /** Scopes the client may request; all when absent. */
  scope?: string
  /** Resource servers the client may get tokens for (RFC 8707). */
  resources?: string[]
  /** False: tokens for a resource lack the audience `authenticated`. */
  include_default_audience?: boolean
  post_logout_redirect_uris?: string[]
  require_pushed_authorization_requests?: boolean
  id_token_signed_response_alg?: string
  default_max_age?: number
  contacts?: string[]
  policy_uri?: string
  tos_uri?: string
  application_type?: 'web' | 'native'
  software_id?: string
  software_version?: string
}

export interface OauthClientDetailsTable {
  client_id: string
  settings: Json<OauthClientSettings>
  /** The URL of its client ID metadata document; null for a registered client. */
  document_url: string | null
  /** When the document is to be fetched again. */
  document_expires_at: Date | null
  /** Consents from before are requested again: the name or a redirect URI has changed. */
  reconsent_after: Date | null
  /** base64url of the SHA-256 of the registration access token (RFC 7592). */
  registration_token_hash: string | null
  last_used_at: Date | null
  /** base64url of the SHA-256 of what a public client registered of itself, until it is changed. */
  metadata_hash: Generated<string | null>
}

export interface OauthAuthorizationsTable {
  id: string
  authorization_id: string
  client_id: string
  user_id: string | null
  redirect_uri: string
  scope: string
  state: string | null
  resource: string | null
  code_challenge: string | null
  code_challenge_method: 's256' | 'plain' | null
  response_type: Generated<'code'>
  status: Generated<'pending' | 'approved' | 'denied' | 'expired'>
  /** base64url of the SHA-256 of the code. */
  authorization_code: string | null
  created_at: Date
  expires_at: Date
  approved_at: Date | null
  nonce: string | null
}

export type ResponseMode = 'query' | 'fragment' | 'form_post'

/** Parameters of an authorization request for which GoTrue's table has no column. */
export interface OauthRequestParameters {
  /** How the client gets the response; in the query when absent. */
  response_mode?: ResponseMode
  prompt?: string[]
  max_age?: number
  acr_values?: string
  login_hint?: string
  ui_locales?: string
  id_token_hint?: string
  resources?: string[]
  /** Claims requested by `claims.id_token.acr`: a second factor is essential. */
  requires_aal2?: boolean
  /** Single claims of the claims parameter. */
  id_token_claims?: string[]
  userinfo_claims?: string[]
  /** The user that has to sign in, by the claims parameter. */
  sub?: string
}

/** How and when a user was authenticated. */
export interface StoredAuthentication {
  session_id: string | null
  auth_time: Date
  aal: 'aal1' | 'aal2' | 'aal3'
  amr: string[]
}

export interface OauthRequestDetailsTable {
  id: string
  parameters: Json<OauthRequestParameters>
  /** The session in which the user approved. */
  session_id: string | null
  auth_time: Date | null
  aal: 'aal1' | 'aal2' | 'aal3' | null
  amr: string[] | null
  code_expires_at: Date | null
  consumed_at: Date | null
  /** The session that the code was exchanged for. */
  issued_session_id: string | null
}

export interface OauthConsentsTable {
  id: string
  user_id: string
  client_id: string
  /** Space-joined. */
  scopes: string
  granted_at: Date
  revoked_at: Date | null
}

export interface OauthSessionsTable {
  session_id: string
  /** Resource servers in the audience of its access tokens. */
  resources: string[]
  auth_time: Date
  /** Single claims for the userinfo endpoint (OpenID Connect Core §5.5). */
  userinfo_claims: Generated<string[]>
}

export interface OauthPushedRequestsTable {
  /** base64url of the SHA-256 of the request URI. */
  id: string
  client_id: string
  parameters: Json<Record<string, string | readonly string[]>>
  created_at: Date
  expires_at: Date
}

export interface OauthDeviceCodesTable {
  /** base64url of the SHA-256 of the device code. */
  id: string
  /** Without its separator. */
  user_code: string
  client_id: string
  scope: string
  resources: string[]
  status: Generated<'pending' | 'approved' | 'denied'>
  user_id: string | null
  session_id: string | null
  auth_time: Date | null
  aal: 'aal1' | 'aal2' | 'aal3' | null
  amr: string[] | null
  interval_seconds: number
  last_polled_at: Date | null
  created_at: Date
  expires_at: Date
}

/** The grant of an OAuth client, for its session. */
export interface ClientGrant {
  oauth_client_id: string
  /** Space-joined. */
  scopes: string
  /** Resource servers in the audience of its access tokens. */
  resources: string[]
  /** When the user was authenticated. */
  auth_time: Date
  /** Single claims for the userinfo endpoint. */
  userinfo_claims: string[]
  /** The second factor of the session that approved it: its removal lowers the client's session too. */
  factor_id: string | null
}
