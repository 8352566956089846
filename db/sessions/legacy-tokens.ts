import { type Selectable, sql } from 'kysely'

import type { Db } from '../core/database.ts'
import type { RefreshTokensTable } from '../tables/sessions.ts'
import { nilUuid } from '../tables/users.ts'
import { isOwnerLive } from './refreshable.ts'

export type RefreshTokenRow = Pick<
  Selectable<RefreshTokensTable>,
  'id' | 'token' | 'session_id' | 'revoked' | 'created_at' | 'updated_at'
>

export function findRefreshToken(db: Db, token: string): Promise<RefreshTokenRow | undefined> {
  return db
    .selectFrom('refresh_tokens')
    .select(['id', 'token', 'session_id', 'revoked', 'created_at', 'updated_at'])
    .where('token', '=', token)
    .executeTakeFirst()
}

/**
 * The session of a user who is still neither banned nor deleted. It is locked before its tokens, in the order in which a
 * session is revoked. The other order could deadlock.
 */
const lockedSession = (db: Pick<Db, 'selectFrom'>, id: string, now: Date) =>
  db
    .selectFrom('sessions')
    .select('sessions.id')
    .where('sessions.id', '=', id)
    .where((eb) => isOwnerLive(eb, sql<Date>`${now}`))
    .forNoKeyUpdate()

interface RotationValues {
  tokenId: number
  sessionId: string
  /** The refresh token key for a session that has none yet, encrypted. */
  newKey: string
  userAgent: string | null
  ip: string | null
}

interface CounterState {
  refresh_token_hmac_key: string
  refresh_token_counter: number
}

/**
 * Consumes the token and converts its session to the counter format in one statement. Returns undefined when the token
 * was consumed before, the session has ended, or its user was banned or deleted.
 */
export async function rotateLegacyToken(
  db: Db,
  { tokenId, sessionId, newKey, userAgent, ip }: RotationValues,
  now: Date,
): Promise<CounterState | undefined> {
  return db
    .with('locked', (eb) => lockedSession(eb, sessionId, now))
    .with('consumed', (eb) =>
      eb
        .updateTable('refresh_tokens')
        .set({ revoked: true, updated_at: now })
        .where('id', '=', tokenId)
        .where('session_id', '=', (of) => of.selectFrom('locked').select('locked.id'))
        .where(sql<boolean>`revoked is not true`)
        .returning('session_id as consumed_session_id'),
    )
    .updateTable('sessions')
    .from('consumed')
    .set({
      refresh_token_hmac_key: sql`coalesce(sessions.refresh_token_hmac_key, ${newKey})`,
      refresh_token_counter: sql`coalesce(sessions.refresh_token_counter, 0)`,
      refreshed_at: now,
      updated_at: now,
      user_agent: userAgent,
      ip,
    })
    .whereRef('sessions.id', '=', 'consumed.consumed_session_id')
    .returning([
      sql<string>`sessions.refresh_token_hmac_key`.as('refresh_token_hmac_key'),
      sql<number>`sessions.refresh_token_counter`.as('refresh_token_counter'),
    ])
    .executeTakeFirst()
}

interface Rotation {
  tokenId: number
  sessionId: string
  /** The token that replaces it. */
  child: string
  userAgent: string | null
  ip: string | null
}

const tokenColumns = [
  'instance_id',
  'token',
  'user_id',
  'session_id',
  'parent',
  'revoked',
  'created_at',
  'updated_at',
] as const

/** As `rotateLegacyToken`, but inserts a child token instead. Returns false when nothing was consumed. */
export async function rotateRefreshToken(
  db: Db,
  { tokenId, sessionId, child, userAgent, ip }: Rotation,
  now: Date,
): Promise<boolean> {
  const row = await db
    .with('locked', (eb) => lockedSession(eb, sessionId, now))
    .with('consumed', (eb) =>
      eb
        .updateTable('refresh_tokens')
        .set({ revoked: true, updated_at: now })
        .where('id', '=', tokenId)
        .where('session_id', '=', (of) => of.selectFrom('locked').select('locked.id'))
        .where(sql<boolean>`revoked is not true`)
        .returning(['session_id', 'user_id', 'token']),
    )
    .with('grown', (eb) =>
      eb
        .insertInto('refresh_tokens')
        .columns(tokenColumns)
        .expression((select) =>
          select
            .selectFrom('consumed')
            .select([
              sql<string>`${nilUuid}::uuid`.as('instance_id'),
              sql<string>`${child}`.as('token'),
              'user_id',
              'session_id',
              'token as parent',
              sql<boolean>`false`.as('revoked'),
              sql<Date>`${now}::timestamptz`.as('created_at'),
              sql<Date>`${now}::timestamptz`.as('updated_at'),
            ]),
        )
        .returning('session_id as grown_session_id'),
    )
    .updateTable('sessions')
    .from('grown')
    .set({ refreshed_at: now, updated_at: now, user_agent: userAgent, ip })
    .whereRef('sessions.id', '=', 'grown.grown_session_id')
    .returning('sessions.id')
    .executeTakeFirst()
  return row !== undefined
}

/** Returns the unused child of this token while the session uses the older format. */
export async function findChildToken(db: Db, { token, session_id }: RefreshTokenRow) {
  const row = await db
    .selectFrom('refresh_tokens')
    .select('token')
    .where('session_id', '=', session_id)
    .where('parent', '=', token)
    .where(sql<boolean>`revoked is not true`)
    .orderBy('id', 'desc')
    .executeTakeFirst()
  return row?.token ?? undefined
}

/** True for a session with tokens of GoTrue's older format. */
export async function hasLegacyTokens(db: Db, sessionId: string): Promise<boolean> {
  const row = await db
    .selectFrom('refresh_tokens')
    .select('id')
    .where('session_id', '=', sessionId)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** True when no other token of the session was consumed after this one. */
export async function isPreviousRefreshToken(db: Db, token: RefreshTokenRow): Promise<boolean> {
  const row = await db
    .selectFrom('refresh_tokens')
    .select('id')
    .where('session_id', '=', token.session_id)
    .where('id', '<>', token.id)
    .where('revoked', '=', true)
    .where('updated_at', '>', token.updated_at)
    .executeTakeFirst()
  return row === undefined
}
