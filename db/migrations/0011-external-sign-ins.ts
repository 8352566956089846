/** What an external sign-in keeps from its start for its callback: PKCE verifier, nonce, request token. */
import { ensureTable, type MigrationDb } from './ensure.ts'

export async function up(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'flow_state', { postern_secrets: 'text' })
}
