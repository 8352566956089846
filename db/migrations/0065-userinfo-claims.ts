/** The single claims that the request of an OAuth client named for the userinfo endpoint. */
import { ensureTable, type MigrationDb } from './ensure.ts'

export async function up(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_oauth_sessions', {
    session_id: 'uuid primary key references sessions (id) on delete cascade',
    userinfo_claims: "text[] not null default '{}'",
  })
}
