/** Where the identities of each custom provider come from; it stays when the provider is deleted, as its identities do. */
import { sql } from 'kysely'

import { ensureTable, type MigrationDb } from './ensure.ts'

export async function up(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_custom_provider_issuers', {
    identifier: 'text primary key',
    issuer: 'text not null',
  })
  await sql`
    insert into postern_custom_provider_issuers (identifier, issuer)
    select identifier, case provider_type when 'oidc' then issuer else userinfo_url end
    from custom_oauth_providers
    where case provider_type when 'oidc' then issuer else userinfo_url end is not null
    on conflict do nothing
  `.execute(db)
}
