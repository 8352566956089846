/** Clients that go on whatever happens, and write down all that the server acknowledged. */
import { setTimeout as pause } from 'node:timers/promises'

import pg from 'pg'

export interface Refusal {
  at: number
  what: string
}

interface Kept {
  userId: string
  sessionId: string
  /** Exchanges of the refresh token that were acknowledged. */
  refreshes: number
}

export function startClients(url: string, count: number) {
  const sessions: Kept[] = []
  const mailed: string[] = []
  const refusals: Refusal[] = []
  let requests = 0
  let stopping = false

  async function ask(path: string, body?: object, token?: string) {
    requests += 1
    const answer = await fetch(`${url}${path}`, {
      method: body ? 'POST' : 'GET',
      headers: {
        'content-type': 'application/json',
        ...(token && { authorization: `Bearer ${token}` }),
      },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(30_000),
    }).catch((error: Error) => error.cause ?? error)
    if (answer instanceof Response && answer.ok) return JSON.parse(await answer.text())
    const what = answer instanceof Response ? `${answer.status}` : String(answer)
    if (answer instanceof Response) await answer.body?.cancel()
    refusals.push({ at: performance.now(), what: `${path.split('?')[0]} ${what}` })
    // As clients do.
    await pause(100)
    return undefined
  }

  async function stay(): Promise<void> {
    const opened = await ask('/signup', {})
    if (!opened) return
    const kept = { userId: opened.user.id, sessionId: sessionOf(opened.access_token), refreshes: 0 }
    sessions.push(kept)
    let session = opened
    for (let i = 0; i < 3 && !stopping; i++) {
      await ask('/user', undefined, session.access_token)
      const next = await ask('/token?grant_type=refresh_token', {
        refresh_token: session.refresh_token,
      })
      if (!next) continue
      kept.refreshes += 1
      session = next
    }
  }

  async function register(): Promise<void> {
    const email = `${crypto.randomUUID()}@example.com`
    const person = await ask('/signup', { email, password: 'correct horse battery staple' })
    if (person) mailed.push(email)
  }

  async function client(): Promise<void> {
    while (!stopping) {
      for (let i = 0; i < 4 && !stopping; i++) await stay()
      await register()
    }
  }

  const clients = Array.from({ length: count }, client)
  return {
    refusals,
    mailed,
    sessions,
    get requests() {
      return requests
    },
    async stop(): Promise<void> {
      stopping = true
      await Promise.all(clients)
    },
  }
}

export type Clients = ReturnType<typeof startClients>

function sessionOf(token: string): string {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).session_id
}

/** What was acknowledged and is not there; nothing, one hopes. */
export async function findLosses(databaseUrl: string, { sessions, mailed }: Clients) {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
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
  await client.end()
  return { sessions: lostSessions.length, people: lostPeople.length }
}

/** How many mails are in which state. */
export async function mailStates(databaseUrl: string): Promise<Record<string, number>> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  const { rows } = await client.query(
    'select state, count(*)::integer from auth.postern_mail_messages group by state',
  )
  await client.end()
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]))
}

/** Seconds between the first and the last refusal after `since`. */
export function outage(refusals: Refusal[], since: number) {
  const after = refusals.filter(({ at }) => at >= since)
  const first = after.at(0)?.at ?? 0
  const last = after.at(-1)?.at ?? 0
  const kinds: Record<string, number> = {}
  for (const { what } of after) kinds[what] = (kinds[what] ?? 0) + 1
  return { refused: after.length, seconds: Math.round((last - first) / 100) / 10, kinds }
}
