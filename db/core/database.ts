/** The typed database: every table by name, and the two handles that queries take. */
import { type Dialect, Kysely, PostgresDialect, type PostgresPool, type Transaction } from 'kysely'

import type { AuditLogEntriesTable } from '../tables/audit.ts'
import type {
  FactorChallengesTable,
  FactorDetailsTable,
  MfaAmrClaimsTable,
  MfaChallengesTable,
  MfaFactorsTable,
  PasskeyChallengesTable,
  RecoveryCodeDigestsTable,
  RecoveryCodeSetsTable,
  RecoveryCodesTable,
  WebauthnChallengesTable,
  WebauthnCredentialsTable,
} from '../tables/factors.ts'
import type {
  CustomOauthProvidersTable,
  CustomProviderIssuersTable,
  CustomProviderOptionsTable,
  IdentitiesTable,
  TenantProvidersTable,
} from '../tables/identities.ts'
import type {
  EventOutboxTable,
  EventsTable,
  MailMessagesTable,
  WebhookDeliveriesTable,
  WebhooksTable,
} from '../tables/messages.ts'
import type {
  OauthAuthorizationsTable,
  OauthClientDetailsTable,
  OauthClientsTable,
  OauthConsentsTable,
  OauthDeviceCodesTable,
  OauthPushedRequestsTable,
  OauthRequestDetailsTable,
  OauthSessionsTable,
} from '../tables/oauth-server.ts'
import type { OrganizationTables } from '../tables/organizations.ts'
import type {
  SamlBrowsersTable,
  SamlLoginsTable,
  SamlLogoutsTable,
  SamlProviderOptionsTable,
  SamlProvidersTable,
  SamlRelayStatesTable,
  SsoDomainsTable,
  SsoProvidersTable,
} from '../tables/saml.ts'
import type { ScimTables } from '../tables/scim.ts'
import type {
  AdminLinksTable,
  AdminsTable,
  ApiTokensTable,
  CleanUpRunsTable,
  EncryptionProbeTable,
  PreparedAccountsTable,
  SettingChangesTable,
  SettingsTable,
  SigningKeysTable,
  TakeoverTable,
  UsageCountsTable,
} from '../tables/server.ts'
import type {
  ImpersonationsTable,
  KnownDevicesTable,
  NewSignInMethodsTable,
  PageSessionsTable,
  PageSubmissionsTable,
  RefreshTokensTable,
  SessionProofsTable,
  SessionsTable,
  SignInDevicesTable,
} from '../tables/sessions.ts'
import type {
  ConsumedCodesTable,
  DummyTokensTable,
  FlowStateTable,
  FlowsTable,
  OauthClientStatesTable,
  OneTimeTokensTable,
  ReplaysTable,
  SendIntervalsTable,
  SendQuotasTable,
  ThrottlesTable,
  TokenDetailsTable,
} from '../tables/tokens.ts'
import type {
  AutoconfirmedAddressesTable,
  ImportsTable,
  PendingSignUpsTable,
  UsernamesTable,
  UsersTable,
  UserTokenColumns,
} from '../tables/users.ts'

export interface Database extends OrganizationTables, ScimTables {
  audit_log_entries: AuditLogEntriesTable
  custom_oauth_providers: CustomOauthProvidersTable
  postern_custom_provider_issuers: CustomProviderIssuersTable
  postern_custom_provider_options: CustomProviderOptionsTable
  postern_tenant_providers: TenantProvidersTable
  postern_prepared_accounts: PreparedAccountsTable
  flow_state: FlowStateTable
  identities: IdentitiesTable
  mfa_amr_claims: MfaAmrClaimsTable
  mfa_challenges: MfaChallengesTable
  mfa_factors: MfaFactorsTable
  mfa_recovery_code_sets: RecoveryCodeSetsTable
  mfa_recovery_codes: RecoveryCodesTable
  oauth_authorizations: OauthAuthorizationsTable
  oauth_client_states: OauthClientStatesTable
  oauth_clients: OauthClientsTable
  oauth_consents: OauthConsentsTable
  one_time_tokens: OneTimeTokensTable
  postern_admin_links: AdminLinksTable
  postern_admins: AdminsTable
  postern_api_tokens: ApiTokensTable
  postern_clean_up_runs: CleanUpRunsTable
  postern_decoy_tokens: DummyTokensTable
  postern_encryption_probe: EncryptionProbeTable
  postern_event_inbox: EventOutboxTable
  postern_events: EventsTable
  postern_factor_challenges: FactorChallengesTable
  postern_factors: FactorDetailsTable
  postern_flows: FlowsTable
  postern_impersonations: ImpersonationsTable
  postern_imports: ImportsTable
  postern_known_devices: KnownDevicesTable
  postern_mail_messages: MailMessagesTable
  postern_new_sign_in_methods: NewSignInMethodsTable
  postern_oauth_clients: OauthClientDetailsTable
  postern_oauth_device_codes: OauthDeviceCodesTable
  postern_oauth_pushed_requests: OauthPushedRequestsTable
  postern_oauth_requests: OauthRequestDetailsTable
  postern_oauth_sessions: OauthSessionsTable
  postern_one_time_tokens: TokenDetailsTable
  postern_page_sessions: PageSessionsTable
  postern_page_submissions: PageSubmissionsTable
  postern_passkey_challenges: PasskeyChallengesTable
  postern_pending_sign_ups: PendingSignUpsTable
  postern_recovery_code_digests: RecoveryCodeDigestsTable
  postern_replays: ReplaysTable
  postern_consumed_codes: ConsumedCodesTable
  postern_autoconfirmed_addresses: AutoconfirmedAddressesTable
  postern_saml_logins: SamlLoginsTable
  postern_saml_logouts: SamlLogoutsTable
  postern_saml_provider_options: SamlProviderOptionsTable
  postern_saml_browsers: SamlBrowsersTable
  postern_send_intervals: SendIntervalsTable
  postern_send_quotas: SendQuotasTable
  postern_session_proofs: SessionProofsTable
  postern_setting_changes: SettingChangesTable
  postern_settings: SettingsTable
  postern_sign_in_devices: SignInDevicesTable
  postern_signing_keys: SigningKeysTable
  postern_takeover: TakeoverTable
  postern_throttles: ThrottlesTable
  postern_usage_counts: UsageCountsTable
  postern_usernames: UsernamesTable
  postern_webhook_deliveries: WebhookDeliveriesTable
  postern_webhooks: WebhooksTable
  refresh_tokens: RefreshTokensTable
  saml_providers: SamlProvidersTable
  saml_relay_states: SamlRelayStatesTable
  sessions: SessionsTable
  sso_domains: SsoDomainsTable
  sso_providers: SsoProvidersTable
  users: UsersTable & UserTokenColumns
  webauthn_challenges: WebauthnChallengesTable
  webauthn_credentials: WebauthnCredentialsTable
}

/** A handle that may be inside a transaction or not. */
export type Db = Kysely<Database>
/** A handle inside a transaction, for functions that must run in one. */
export type Trx = Transaction<Database>

/** Narrows a handle to one inside a transaction. */
export const isInTransaction = (db: Db): db is Trx => db.isTransaction

/** The database over a plain pool, for commands. The server's dialect is that of plugins/database/driver. */
export const createDb = (pool: PostgresPool, schema: string): Db =>
  createDbWithDialect(new PostgresDialect({ pool }), schema)

/** Qualifies every table with `schema`, so that queries do not depend on the search_path of a pooler. */
export const createDbWithDialect = (dialect: Dialect, schema: string): Db =>
  new Kysely<Database>({ dialect }).withSchema(schema)
