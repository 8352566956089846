/** Issued service tokens by `jti` (RFC 7519 §4.1.7), and revoked ones. */
import { ensureTable, type MigrationDb } from './ensure.ts'

export async function up(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_api_tokens', {
    jti: 'text primary key',
    kid: 'text',
    role: 'text',
    sub: 'text',
    created_at: 'timestamptz not null',
    expires_at: 'timestamptz',
    revoked_at: 'timestamptz',
  })
}
