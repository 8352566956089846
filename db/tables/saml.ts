import type { ColumnType } from 'kysely'

/** SAML identity providers, as GoTrue stores them. */
export interface SsoProvidersTable {
  id: string
  resource_id: string | null
  disabled: boolean | null
  created_at: Date | null
  updated_at: Date | null
}

/** Email domains of a provider, in lower case. */
export interface SsoDomainsTable {
  id: string
  sso_provider_id: string
  domain: string
  created_at: Date | null
  updated_at: Date | null
}

export interface SamlProvidersTable {
  id: string
  sso_provider_id: string
  entity_id: string
  metadata_xml: string
  metadata_url: string | null
  attribute_mapping: ColumnType<
    Record<string, unknown> | null,
    string | null | undefined,
    string | null | undefined
  >
  name_id_format: string | null
  created_at: Date | null
  updated_at: Date | null
}

/** Open sign-ins; the id is the RelayState. */
export interface SamlRelayStatesTable {
  id: string
  sso_provider_id: string
  /** The id of the AuthnRequest, which the response must name (`InResponseTo`). */
  request_id: string
  for_email: string | null
  redirect_to: string | null
  created_at: Date | null
  updated_at: Date | null
  /** Set for a client that uses PKCE (RFC 7636). */
  flow_state_id: string | null
}

/** What GoTrue's tables have no column for; a provider without a row has the defaults. */
export interface SamlProviderOptionsTable {
  sso_provider_id: string
  /** Sign-ins that start at the identity provider. */
  idp_initiated: 'allow' | 'deny'
}

/** The browser of an open sign-in that is bound to it. */
export interface SamlBrowsersTable {
  relay_state_id: string
  /** SHA-256 of the value of its cookie. */
  browser_hash: string
}

/** The names of a sign-in at its provider: for a client that has not exchanged its code yet, or for a session. */
export interface SamlLoginsTable {
  id: string
  sso_provider_id: string
  user_id: string
  flow_id: string | null
  session_id: string | null
  /** As in the assertion; null when it has none. */
  name_id: string | null
  name_id_format: string | null
  name_qualifier: string | null
  sp_name_qualifier: string | null
  /** Of the session at the provider. */
  session_index: string | null
  /** When the provider ends the session. */
  session_end: Date | null
}

/** Logouts that were sent to a provider; the id is the RelayState. */
export interface SamlLogoutsTable {
  id: string
  sso_provider_id: string
  /** Of the LogoutRequest, which the response has to name. */
  request_id: string
  redirect_to: string
  /** The signed request, for a provider that accepts it by HTTP-POST. */
  message: string | null
  created_at: Date
}
