import { type Generated, type Selectable, sql } from 'kysely'

import type { Db } from './database.ts'
import { nilUuid } from './users.ts'

/** Tokens in GoTrue's older form, one row each; we write them for sessions that a GoTrue may refresh as well. */
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
  'id' | 'token' | 'session_id' | 'revoked' | 'created_at' | 'updated_at'
>

export function findRefreshToken(db: Db, token: string): Promise<RefreshTokenRow | undefined> {
  return db
    .selectFrom('refresh_tokens')
    .select(['id', 'token', 'session_id', 'revoked', 'created_at', 'updated_at'])
    .where('token', '=', token)
    .executeTakeFirst()
}

/** Locked before its tokens are, as wherever a session ends: the other way round, each would wait for the other. */
const heldSession = (db: Pick<Db, 'selectFrom'>, id: string) =>
  db.selectFrom('sessions').select('sessions.id').where('sessions.id', '=', id).forNoKeyUpdate()

export interface Exchange {
  tokenId: number
  sessionId: string
  /** The key for a session that has none yet, encrypted. */
  newKey: string
  userAgent: string | null
  ip: string | null
}

export interface CounterState {
  refresh_token_hmac_key: string
  refresh_token_counter: number
}

/**
 * Spends the token and moves its session to the counter format, in one statement; undefined when the token was spent
 * before, by another request for example, or the session has ended.
 */
export async function exchangeRefreshToken(
  db: Db,
  { tokenId, sessionId, newKey, userAgent, ip }: Exchange,
  now: Date,
): Promise<CounterState | undefined> {
  return db
    .with('held', (eb) => heldSession(eb, sessionId))
    .with('spent', (eb) =>
      eb
        .updateTable('refresh_tokens')
        .set({ revoked: true, updated_at: now })
        .where('id', '=', tokenId)
        .where('session_id', '=', (of) => of.selectFrom('held').select('held.id'))
        .where(sql<boolean>`revoked is not true`)
        .returning('session_id as spent_session_id'),
    )
    .updateTable('sessions')
    .from('spent')
    .set({
      refresh_token_hmac_key: sql`coalesce(sessions.refresh_token_hmac_key, ${newKey})`,
      refresh_token_counter: sql`coalesce(sessions.refresh_token_counter, 0)`,
      refreshed_at: now,
      updated_at: now,
      user_agent: userAgent,
      ip,
    })
    .whereRef('sessions.id', '=', 'spent.spent_session_id')
    .returning([
      sql<string>`sessions.refresh_token_hmac_key`.as('refresh_token_hmac_key'),
      sql<number>`sessions.refresh_token_counter`.as('refresh_token_counter'),
    ])
    .executeTakeFirst()
}

export interface Rotation {
  tokenId: number
  sessionId: string
  /** What it is exchanged for. */
  child: string
  userAgent: string | null
  ip: string | null
}

/** Spends the token for one that has it as parent, in one statement; false when it was spent before. */
export async function rotateRefreshToken(
  db: Db,
  { tokenId, sessionId, child, userAgent, ip }: Rotation,
  now: Date,
): Promise<boolean> {
  const row = await db
    .with('held', (eb) => heldSession(eb, sessionId))
    .with('spent', (eb) =>
      eb
        .updateTable('refresh_tokens')
        .set({ revoked: true, updated_at: now })
        .where('id', '=', tokenId)
        .where('session_id', '=', (of) => of.selectFrom('held').select('held.id'))
        .where(sql<boolean>`revoked is not true`)
        .returning(['session_id', 'user_id', 'token']),
    )
    .with('grown', (eb) =>
      eb
        .insertInto('refresh_tokens')
        .columns([
          'instance_id',
          'token',
          'user_id',
          'session_id',
          'parent',
          'revoked',
          'created_at',
          'updated_at',
        ])
        .expression((select) =>
          select
            .selectFrom('spent')
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

/** The session's unspent token that this one was exchanged for, if the session is still in the older form. */
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

/** True for a session that GoTrue opened with tokens of the older form. */
export async function hasLegacyTokens(db: Db, sessionId: string): Promise<boolean> {
  const row = await db
    .selectFrom('refresh_tokens')
    .select('id')
    .where('session_id', '=', sessionId)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** True when no other token of the session was spent after this one. */
export async function isLastSpentToken(db: Db, token: RefreshTokenRow): Promise<boolean> {
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
