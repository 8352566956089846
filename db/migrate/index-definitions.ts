/** Definitions of our indexes on GoTrue's tables and on large ones of ours. */
import { nilUuid } from '../tables/users.ts'

export interface PosternIndex {
  name: string
  table: string
  /** The part of the statement after the table name. */
  definition: string
}

/** Without those for searches, which depend on the configuration and on pg_trgm. */
export const plainIndexes: readonly PosternIndex[] = [
  [
    'postern_users_listed_idx',
    'users',
    `(aud, created_at, id) where (instance_id = '${nilUuid}') is true`,
  ],
  ['postern_users_email_idx', 'users', '(email text_pattern_ops)'],
  ['postern_users_phone_idx', 'users', '(phone text_pattern_ops)'],
  // Few users are in these states: an index of all users by creation would be read to its end for them.
  ['postern_users_banned_idx', 'users', '(created_at, id) where banned_until is not null'],
  ['postern_users_deleted_idx', 'users', '(created_at, id) where deleted_at is not null'],
  ['postern_users_sso_idx', 'users', '(created_at, id) where is_sso_user'],
  ['postern_users_anonymous_idx', 'users', '(created_at, id) where is_anonymous'],
  [
    'postern_users_invited_idx',
    'users',
    '(created_at, id) where invited_at is not null and email_confirmed_at is null',
  ],
  [
    'postern_users_unconfirmed_idx',
    'users',
    '(created_at, id) where email_confirmed_at is null and phone_confirmed_at is null',
  ],
  ['postern_identities_provider_idx', 'identities', '(provider, user_id)'],
  ['postern_one_time_tokens_created_at_idx', 'one_time_tokens', '(created_at)'],
  ['postern_flow_state_linking_idx', 'flow_state', '(linking_target_id)'],
  ['postern_mfa_challenges_factor_idx', 'mfa_challenges', '(factor_id)'],
  ['postern_audit_log_entries_created_at_idx', 'audit_log_entries', '(created_at, id)'],
  // The actions by and on a user, among millions of entries.
  [
    'postern_audit_log_entries_actor_idx',
    'audit_log_entries',
    "((payload ->> 'actor_id'), created_at, id)",
  ],
  [
    'postern_audit_log_entries_subject_idx',
    'audit_log_entries',
    "((payload -> 'traits' ->> 'user_id'), created_at, id) where (payload -> 'traits' ->> 'user_id') is not null",
  ],
  ['postern_saml_relay_states_flow_state_idx', 'saml_relay_states', '(flow_state_id)'],
  ['postern_identities_wallet_idx', 'identities', "(lower(provider_id)) where provider = 'web3'"],
  // The list of sent messages, newest first.
  ['postern_mail_messages_created_at_idx', 'postern_mail_messages', '(created_at, id)'],
  // Few organizations are deleted, as few users are.
  [
    'postern_organizations_deleted_idx',
    'postern_organizations',
    '(created_at, id) where deleted_at is not null',
  ],
  // The events of one type after a position, however rare.
  ['postern_events_type_idx', 'postern_events', '(type, position)'],
  ['postern_impersonations_by_idx', 'postern_impersonations', '(impersonated_by)'],
  ['postern_oauth_clients_created_at_idx', 'oauth_clients', '(created_at)'],
  ['postern_oauth_authorizations_client_idx', 'oauth_authorizations', '(client_id)'],
  ['postern_oauth_authorizations_user_idx', 'oauth_authorizations', '(user_id)'],
  ['postern_oauth_consents_client_idx', 'oauth_consents', '(client_id)'],
].map(([name = '', table = '', definition = '']) => ({ name, table, definition }))
