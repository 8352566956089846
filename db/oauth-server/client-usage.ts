/** The last use of clients. */
import type { Db } from '../core/database.ts'

/** Recorded at most once a day, because unused registrations are deleted. */
export async function touchClient(db: Db, id: string, now: Date): Promise<void> {
  const writtenBefore = new Date(now.getTime() - 3_600_000)
  await db
    .insertInto('postern_oauth_clients')
    .values({
      client_id: id,
      settings: '{}',
      document_url: null,
      document_expires_at: null,
      registration_token_hash: null,
      reconsent_after: null,
      last_used_at: now,
    })
    .onConflict((conflict) =>
      conflict
        .column('client_id')
        .doUpdateSet({ last_used_at: now })
        .where((eb) =>
          eb.or([
            eb('postern_oauth_clients.last_used_at', 'is', null),
            eb('postern_oauth_clients.last_used_at', '<', writtenBefore),
          ]),
        ),
    )
    .execute()
}
