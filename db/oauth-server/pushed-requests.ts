/** Pushed authorization requests (RFC 9126). */
import type { Db } from '../core/database.ts'

interface PushedRequest {
  client_id: string
  parameters: Record<string, string | readonly string[]>
}

export async function insertPushedRequest(
  db: Db,
  { id, client_id, parameters, expiresAt }: PushedRequest & { id: string; expiresAt: Date },
  now: Date,
): Promise<void> {
  await db
    .insertInto('postern_oauth_pushed_requests')
    .values({
      id,
      client_id,
      parameters: JSON.stringify(parameters),
      created_at: now,
      expires_at: expiresAt,
    })
    .execute()
}

/** Consumes a request URI, which is valid once (RFC 9126 §7.3). */
export function consumePushedRequest(
  db: Db,
  id: string,
  clientId: string,
  now: Date,
): Promise<PushedRequest | undefined> {
  return db
    .deleteFrom('postern_oauth_pushed_requests')
    .where('id', '=', id)
    .where('client_id', '=', clientId)
    .where('expires_at', '>', now)
    .returning(['client_id', 'parameters'])
    .executeTakeFirst()
}
