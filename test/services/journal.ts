/** Clients that continuously send requests and record acknowledged data. */
import { decodeJwt } from 'jose'

import { withClient } from '../../server/with-client.ts'
import { query } from '../db/sql.ts'
import { startMany, startRequesting } from './request-loop.ts'

export interface Stored {
  userId: string
  sessionId: string
  /** Exchanges of the refresh token that were acknowledged. */
  refreshes: number
}

export function startClients(url: string, count: number) {
  const sessions: Stored[] = []
  const mailed: string[] = []
  const requester = startRequesting(url)
  const { send } = requester

  async function stay(isOver: () => boolean): Promise<void> {
    const opened = await send('/signup', { body: {} })
    if (!opened) return
    const stored = {
      userId: opened.user.id,
      sessionId: getSessionId(opened.access_token),
      refreshes: 0,
    }
    sessions.push(stored)
    let session = opened
    for (let i = 0; i < 3 && !isOver(); i++) {
      await send('/user', { token: session.access_token })
      const { refresh_token } = session
      const next = await send('/token?grant_type=refresh_token', { body: { refresh_token } })
      if (!next) continue
      stored.refreshes += 1
      session = next
    }
  }

  async function register(): Promise<void> {
    const email = `${crypto.randomUUID()}@example.com`
    const body = { email, password: 'correct horse battery staple' }
    if (await send('/signup', { body })) mailed.push(email)
  }

  const stop = startMany(count, async (isOver) => {
    for (let i = 0; i < 4 && !isOver(); i++) await stay(isOver)
    await register()
  })
  return { requester, mailed, sessions, stop }
}

export type Clients = ReturnType<typeof startClients>

export function getSessionId(token: string): string {
  return String(decodeJwt(token).session_id)
}

/** Acknowledged data that is missing; expected to be empty. */
export async function findLosses(
  databaseUrl: string,
  { sessions, mailed }: { sessions: Stored[]; mailed: string[] },
) {
  return withClient({ connectionString: databaseUrl }, async (client) => {
    const { rows: lostSessions } = await client.query(
      `select kept.session_id from unnest($1::uuid[], $2::uuid[], $3::bigint[])
       as kept (session_id, user_id, refreshes)
     left join auth.sessions s on s.id = kept.session_id and s.user_id = kept.user_id
     where s.id is null or s.refresh_token_counter < kept.refreshes`,
      [
        sessions.map((one) => one.sessionId),
        sessions.map((one) => one.userId),
        sessions.map((one) => one.refreshes),
      ],
    )
    const { rows: lostUsers } = await client.query(
      `select address from unnest($1::text[]) as address
     where not exists (select from auth.users where email = address)`,
      [mailed],
    )
    return { sessions: lostSessions.length, users: lostUsers.length }
  })
}

/** Number of emails by state. */
export async function emailStates(databaseUrl: string): Promise<Record<string, number>> {
  const rows = await query(
    databaseUrl,
    'select state, count(*)::integer from auth.postern_mail_messages group by state',
  )
  return Object.fromEntries(rows.map(({ state, count }) => [String(state), Number(count)]))
}
