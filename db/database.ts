/** The typed database: every table by name, and the two handles that queries take. */
import { Kysely, type LogEvent, PostgresDialect, type PostgresPool, type Transaction } from 'kysely'

import type { AuditLogEntriesTable } from './audit-log-entries.ts'
import type { CleanUpRunsTable } from './clean-up-runs.ts'
import type { EncryptionProbeTable } from './encryption-probe.ts'
import type { EventInboxTable } from './event-inbox.ts'
import type { EventsTable } from './events.ts'
import type { FlowStateTable, FlowsTable } from './flow-states.ts'
import type { IdentitiesTable } from './identities.ts'
import type { ImpersonationsTable } from './impersonations.ts'
import type { ImportsTable } from './imports.ts'
import type { KnownDevicesTable } from './known-devices.ts'
import type { MailMessagesTable } from './mail-messages.ts'
import type {
  FactorChallengesTable,
  FactorDetailsTable,
  MfaAmrClaimsTable,
  MfaChallengesTable,
  MfaFactorsTable,
} from './mfa.ts'
import type { OauthClientStatesTable } from './oauth-flows.ts'
import type { OneTimeTokensTable } from './one-time-tokens.ts'
import type { PendingSignUpsTable } from './pending-sign-ups.ts'
import type { RecoveryCodesTable } from './recovery-codes.ts'
import type { RefreshTokensTable } from './refresh-tokens.ts'
import type { SendIntervalsTable, SendQuotasTable } from './send-limits.ts'
import type { SessionsTable } from './sessions.ts'
import type { SignInDevicesTable } from './sign-in-devices.ts'
import type { SigningKeysTable } from './signing-keys.ts'
import type { TakeoverTable } from './takeover.ts'
import type { ThrottlesTable } from './throttles.ts'
import type { DecoyTokensTable } from './token-guesses.ts'
import type { TokenDetailsTable } from './token-life.ts'
import type { UserTokenColumns } from './user-tokens.ts'
import type { UsersTable } from './users.ts'
import type { PasskeyChallengesTable, WebauthnChallengesTable } from './webauthn-challenges.ts'
import type { WebauthnCredentialsTable } from './webauthn-credentials.ts'
import type { WebhookDeliveriesTable } from './webhook-deliveries.ts'
import type { WebhooksTable } from './webhooks.ts'

export interface Database {
  audit_log_entries: AuditLogEntriesTable
  flow_state: FlowStateTable
  identities: IdentitiesTable
  mfa_amr_claims: MfaAmrClaimsTable
  mfa_challenges: MfaChallengesTable
  mfa_factors: MfaFactorsTable
  oauth_client_states: OauthClientStatesTable
  one_time_tokens: OneTimeTokensTable
  postern_clean_up_runs: CleanUpRunsTable
  postern_decoy_tokens: DecoyTokensTable
  postern_encryption_probe: EncryptionProbeTable
  postern_event_inbox: EventInboxTable
  postern_events: EventsTable
  postern_factor_challenges: FactorChallengesTable
  postern_factors: FactorDetailsTable
  postern_flows: FlowsTable
  postern_impersonations: ImpersonationsTable
  postern_imports: ImportsTable
  postern_known_devices: KnownDevicesTable
  postern_mail_messages: MailMessagesTable
  postern_one_time_tokens: TokenDetailsTable
  postern_passkey_challenges: PasskeyChallengesTable
  postern_pending_sign_ups: PendingSignUpsTable
  postern_recovery_codes: RecoveryCodesTable
  postern_send_intervals: SendIntervalsTable
  postern_send_quotas: SendQuotasTable
  postern_sign_in_devices: SignInDevicesTable
  postern_signing_keys: SigningKeysTable
  postern_takeover: TakeoverTable
  postern_throttles: ThrottlesTable
  postern_webhook_deliveries: WebhookDeliveriesTable
  postern_webhooks: WebhooksTable
  refresh_tokens: RefreshTokensTable
  sessions: SessionsTable
  users: UsersTable & UserTokenColumns
  webauthn_challenges: WebauthnChallengesTable
  webauthn_credentials: WebauthnCredentialsTable
}

/** A handle that may or may not be inside a transaction. */
export type Db = Kysely<Database>
/** A handle that is inside a transaction: what takes one must not run outside. */
export type Trx = Transaction<Database>

/** For what needs a transaction and may be given one. */
export const isInTransaction = (db: Db): db is Trx => db.isTransaction

export interface DbOptions {
  /** Hears of each statement when it has ended. */
  onQuery?: ((event: LogEvent) => void) | undefined
  /** Where changes go that may be committed together with those of others; the pool itself when absent. */
  sharing?: PostgresPool | undefined
}

/** By the adapter, which all handles of one database have in common. */
const sharingHandles = new WeakMap<object, Db>()

/** Every table is looked up in `schema` by name, so that it works behind any pooler's search_path. */
export function createDb(
  pool: PostgresPool,
  schema: string,
  { onQuery, sharing }: DbOptions = {},
): Db {
  const handle = (of: PostgresPool): Db => {
    const dialect = new PostgresDialect({ pool: of })
    return new Kysely<Database>({ dialect, ...(onQuery && { log: onQuery }) }).withSchema(schema)
  }
  const db = handle(pool)
  if (sharing) sharingHandles.set(db.getExecutor().adapter, handle(sharing))
  return db
}

/** For a change that is complete by itself and may be committed together with those of others; in a transaction it is of that. */
export function sharingHandle(db: Db): Db {
  return db.isTransaction ? db : (sharingHandles.get(db.getExecutor().adapter) ?? db)
}
