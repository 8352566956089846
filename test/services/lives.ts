/** People who do with their accounts what people do, whichever release answers, and what was acknowledged to them. */
import { query } from '../db/sql.ts'
import { password } from '../support/people.ts'
import { startAsking, startMany } from './asking.ts'
import { findLosses, type Kept, sessionOf } from './journal.ts'

interface Session {
  access_token: string
  refresh_token: string
  user: { id: string }
}

interface Person extends Kept {
  email: string
  session: Session
  /** What was last written into their metadata; 0 before. */
  note: number
}

export type Lives = ReturnType<typeof startLives>

/** Each client has one person with a session from beginning to end, and others who come and go. */
export function startLives(url: string, count: number) {
  const asking = startAsking(url)
  const { ask } = asking
  const people: Person[] = []
  const ended: string[] = []
  const mailed: string[] = []

  /** Signs up and in, and out of the first of the two sessions. */
  async function join(): Promise<Person | undefined> {
    const email = `${crypto.randomUUID()}@example.com`
    const body = { email, password }
    const first: Session | undefined = await ask('/signup', { body })
    const session: Session | undefined = await ask('/token?grant_type=password', { body })
    if (!first || !session) return undefined
    const token = first.access_token
    const isOut = await ask('/logout?scope=local', { method: 'POST', token })
    if (isOut) ended.push(sessionOf(token))
    const sessionId = sessionOf(session.access_token)
    const person = { email, userId: session.user.id, sessionId, session, refreshes: 0, note: 0 }
    people.push(person)
    return person
  }

  async function day(person: Person): Promise<void> {
    const { refresh_token } = person.session
    const next = await ask('/token?grant_type=refresh_token', { body: { refresh_token } })
    if (next) {
      person.session = next
      person.refreshes += 1
    }
    const token = person.session.access_token
    await ask('/user', { token })
    const note = person.note + 1
    const isWritten = await ask('/user', { method: 'PUT', body: { data: { note } }, token })
    if (isWritten) person.note = note
  }

  async function comeAndGo(): Promise<void> {
    const person = await join()
    if (!person) return
    await day(person)
    await day(person)
    const { email } = person
    if (await ask('/recover', { body: { email } })) mailed.push(email)
  }

  const residents = new Map<number, Person>()
  const stop = startMany(count, async (_isOver, client) => {
    const resident = residents.get(client) ?? (await join())
    if (resident) {
      residents.set(client, resident)
      await day(resident)
    }
    await comeAndGo()
  })
  return { asking, people, ended, mailed, stop }
}

/** How much is not there of what had been acknowledged when this was asked. */
export async function findLostLives(databaseUrl: string, lives: Lives): Promise<number> {
  const people = lives.people.map((person) => ({ ...person }))
  const ended = [...lives.ended]
  const found = await findLosses(databaseUrl, { sessions: people, mailed: [...lives.mailed] })
  const lost = await query(databaseUrl, {
    text: `select id::text from unnest($1::uuid[], $2::int[]) as kept (user_id, note)
          left join auth.users u on u.id = kept.user_id
          where coalesce((raw_user_meta_data ->> 'note')::int, 0) < kept.note
        union all select id::text from auth.sessions where id = any ($3::uuid[])`,
    values: [people.map(({ userId }) => userId), people.map(({ note }) => note), ended],
  })
  return found.sessions + found.people + lost.length
}
