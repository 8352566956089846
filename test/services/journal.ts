/** Clients that go on whatever happens, and write down all that the server acknowledged. */
import { decodeJwt } from 'jose'

import { withClient } from '../../cli/with-client.ts'
import { query } from '../db/sql.ts'
import { startAsking, startMany } from './asking.ts'

export interface Kept {
  userId: string
  sessionId: string
  /** Exchanges of the refresh token that were acknowledged. */
  refreshes: number
}

export function startClients(url: string, count: number) {
  const sessions: Kept[] = []
  const mailed: string[] = []
  const asking = startAsking(url)
  const { ask } = asking

  async function stay(isOver: () => boolean): Promise<void> {
    const opened = await ask('/signup', { body: {} })
    if (!opened) return
    const kept = { userId: opened.user.id, sessionId: sessionOf(opened.access_token), refreshes: 0 }
    sessions.push(kept)
    let session = opened
    for (let i = 0; i < 3 && !isOver(); i++) {
      await ask('/user', { token: session.access_token })
      const { refresh_token } = session
      const next = await ask('/token?grant_type=refresh_token', { body: { refresh_token } })
      if (!next) continue
      kept.refreshes += 1
      session = next
    }
  }

  async function register(): Promise<void> {
    const email = `${crypto.randomUUID()}@example.com`
    const body = { email, password: 'correct horse battery staple' }
    if (await ask('/signup', { body })) mailed.push(email)
  }

  const stop = startMany(count, async (isOver) => {
    for (let i = 0; i < 4 && !isOver(); i++) await stay(isOver)
    await register()
  })
  return { asking, mailed, sessions, stop }
}

export type Clients = ReturnType<typeof startClients>

export function sessionOf(token: string): string {
  return String(decodeJwt(token).session_id)
}

/** What was acknowledged and is not there; nothing, one hopes. */
export async function findLosses(
  databaseUrl: string,
  { sessions, mailed }: { sessions: Kept[]; mailed: string[] },
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
    const { rows: lostPeople } = await client.query(
      `select address from unnest($1::text[]) as address
     where not exists (select from auth.users where email = address)`,
      [mailed],
    )
    return { sessions: lostSessions.length, people: lostPeople.length }
  })
}

/** How many mails are in which state. */
export async function mailStates(databaseUrl: string): Promise<Record<string, number>> {
  const rows = await query(
    databaseUrl,
    'select state, count(*)::integer from auth.postern_mail_messages group by state',
  )
  return Object.fromEntries(rows.map(({ state, count }) => [String(state), Number(count)]))
}
