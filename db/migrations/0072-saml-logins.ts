/** What a sign-in by SAML is called at the identity provider, for single logout; and logouts that were sent to one. */
import { ensureIndexes, ensureTable, type MigrationDb } from './ensure.ts'

export async function up(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_saml_logins', {
    id: 'uuid not null primary key',
    sso_provider_id: 'uuid not null references sso_providers (id) on delete cascade',
    user_id: 'uuid not null references users (id) on delete cascade',
    flow_id: 'uuid unique references flow_state (id) on delete cascade',
    session_id: 'uuid unique references sessions (id) on delete cascade',
    name_id: 'text',
    name_id_format: 'text',
    name_qualifier: 'text',
    sp_name_qualifier: 'text',
    session_index: 'text',
    session_end: 'timestamptz',
  })
  await ensureTable(db, 'postern_saml_logouts', {
    id: 'uuid not null primary key',
    sso_provider_id: 'uuid not null references sso_providers (id) on delete cascade',
    request_id: 'text not null',
    redirect_to: 'text not null',
    message: 'text',
    created_at: 'timestamptz not null',
  })
  await ensureIndexes(db, [
    `create index if not exists postern_saml_logins_name_idx
      on postern_saml_logins (sso_provider_id, name_id)`,
    'create index if not exists postern_saml_logins_user_idx on postern_saml_logins (user_id)',
    `create index if not exists postern_saml_logouts_created_at_idx
      on postern_saml_logouts (created_at)`,
    `create index if not exists postern_saml_logouts_provider_idx
      on postern_saml_logouts (sso_provider_id)`,
  ])
}
