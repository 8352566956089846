import type { Selectable } from 'kysely'

import type { Db } from '../core/database.ts'
import type { ApiTokensTable } from '../tables/keys.ts'

export type ApiTokenRow = Selectable<ApiTokensTable>

type NewApiToken = Pick<ApiTokenRow, 'jti' | 'kid' | 'role' | 'sub' | 'expires_at'>

export async function insertApiToken(db: Db, token: NewApiToken, now: Date): Promise<void> {
  await db
    .insertInto('postern_api_tokens')
    .values({ ...token, created_at: now, revoked_at: null })
    .execute()
}

/** Returns unexpired tokens, oldest first. The expiry of a token that was not issued here is unknown. */
export function listApiTokens(db: Db, now: Date): Promise<ApiTokenRow[]> {
  return db
    .selectFrom('postern_api_tokens')
    .selectAll()
    .where((eb) => eb.or([eb('expires_at', '>', now), eb('expires_at', 'is', null)]))
    .orderBy('created_at')
    .execute()
}

/** Revokes a token, also one that was not issued here. Returns false when it was revoked before. */
export async function revokeApiToken(db: Db, jti: string, now: Date): Promise<boolean> {
  const row = await db
    .insertInto('postern_api_tokens')
    .values({ jti, created_at: now, revoked_at: now })
    .onConflict((conflict) =>
      conflict
        .column('jti')
        .doUpdateSet({ revoked_at: now })
        .where('postern_api_tokens.revoked_at', 'is', null),
    )
    .returning('jti')
    .executeTakeFirst()
  return row !== undefined
}
