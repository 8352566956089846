import type { Generated, Selectable } from 'kysely'

import type { Db } from './database.ts'

/** Tokens in the peer's older form, one row each; we read them and write none. */
export interface RefreshTokensTable {
  id: Generated<number>
  instance_id: string | null
  token: string | null
  user_id: string | null
  revoked: boolean | null
  parent: string | null
  session_id: string | null
  created_at: Date | null
  updated_at: Date | null
}

export type RefreshTokenRow = Pick<
  Selectable<RefreshTokensTable>,
  'id' | 'token' | 'session_id' | 'revoked' | 'parent' | 'updated_at'
>

export function findRefreshToken(db: Db, token: string): Promise<RefreshTokenRow | undefined> {
  return db
    .selectFrom('refresh_tokens')
    .select(['id', 'token', 'session_id', 'revoked', 'parent', 'updated_at'])
    .where('token', '=', token)
    .executeTakeFirst()
}

/** True for the one caller that spends the token; false when it was spent before. */
export async function revokeRefreshToken(db: Db, id: number, now: Date): Promise<boolean> {
  const result = await db
    .updateTable('refresh_tokens')
    .set({ revoked: true, updated_at: now })
    .where('id', '=', id)
    .where('revoked', '=', false)
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}
