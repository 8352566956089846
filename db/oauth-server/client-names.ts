/** Names of clients. */
import type { Db } from '../core/database.ts'

/** The names of clients that the operator created. */
export async function listVerifiedNames(db: Db): Promise<string[]> {
  const rows = await db
    .selectFrom('oauth_clients')
    .select('client_name')
    .where('registration_type', '=', 'manual')
    .where('deleted_at', 'is', null)
    .where('client_name', 'is not', null)
    .execute()
  return rows.flatMap(({ client_name: name }) => name ?? [])
}
