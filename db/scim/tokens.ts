/** Tokens of SCIM connections. Only their hashes are stored. */
import { lockName } from '../core/advisory-lock.ts'
import type { Db, Trx } from '../core/database.ts'

interface ScimTokenRow {
  id: string
  name: string
  prefix: string
  created_at: Date
  expires_at: Date | null
  revoked_at: Date | null
  last_used_at: Date | null
}

interface NewScimToken {
  id: string
  sso_provider_id: string
  name: string
  token_hash: string
  prefix: string
  expires_at: Date | null
}

/** Oldest first, revoked and expired ones as well. */
export async function listScimTokens(db: Db, connectionId: string): Promise<ScimTokenRow[]> {
  const rows = await db
    .selectFrom('scim_tokens')
    .leftJoin('postern_scim_tokens', 'postern_scim_tokens.token_id', 'scim_tokens.id')
    .select(['id', 'name', 'prefix', 'created_at', 'expires_at', 'revoked_at', 'last_used_at'])
    .where('sso_provider_id', '=', connectionId)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return rows.map((row) => ({ ...row, name: row.name ?? '' }))
}

export async function insertScimToken(
  trx: Trx,
  { name, ...token }: NewScimToken,
  now: Date,
): Promise<void> {
  await trx
    .insertInto('scim_tokens')
    .values({ ...token, created_at: now, revoked_at: null, last_used_at: null })
    .execute()
  await trx.insertInto('postern_scim_tokens').values({ token_id: token.id, name }).execute()
}

/** Returns false when the connection has no such token that was not revoked. */
export async function revokeScimToken(
  trx: Trx,
  { connectionId, id }: { connectionId: string; id: string },
  now: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('scim_tokens')
    .set({ revoked_at: now })
    .where('id', '=', id)
    .where('sso_provider_id', '=', connectionId)
    .where('revoked_at', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/**
 * Until the transaction ends: changes by clients are shared, the end of their access is exclusive. Not a row lock, for
 * which the exclusive one would wait as long as a client sends requests.
 */
export async function lockScimAccess(
  trx: Trx,
  connectionId: string,
  mode: 'shared' | 'exclusive',
): Promise<void> {
  await lockName(trx, `scim ${connectionId.toLowerCase()}`, mode)
}
