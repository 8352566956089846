/** Users whose requests are served by one of two releases, and the data acknowledged to them. */
import { query } from '../db/sql.ts'
import { password } from '../support/users.ts'
import { findLosses, getSessionId, type Stored } from './journal.ts'
import { startMany, startRequesting } from './request-loop.ts'

interface Session {
  access_token: string
  refresh_token: string
  user: { id: string }
}

interface User extends Stored {
  email: string
  session: Session
  /** The value last written into their metadata; 0 before. */
  note: number
}

export type Activity = ReturnType<typeof startActivity>

/** Each client has one user with a long-lived session, and further users. */
export function startActivity(url: string, count: number) {
  const requester = startRequesting(url)
  const { send } = requester
  const users: User[] = []
  const ended: string[] = []
  const mailed: string[] = []

  /** Signs up and in, and out of the first of the two sessions. */
  async function addUser(): Promise<User | undefined> {
    const email = `${crypto.randomUUID()}@example.com`
    const body = { email, password }
    const first: Session | undefined = await send('/signup', { body })
    const session: Session | undefined = await send('/token?grant_type=password', { body })
    if (!first || !session) return undefined
    const token = first.access_token
    const isSignedOut = await send('/logout?scope=local', { method: 'POST', token })
    if (isSignedOut) ended.push(getSessionId(token))
    const sessionId = getSessionId(session.access_token)
    const user = { email, userId: session.user.id, sessionId, session, refreshes: 0, note: 0 }
    users.push(user)
    return user
  }

  async function useSession(user: User): Promise<void> {
    const { refresh_token } = user.session
    const next = await send('/token?grant_type=refresh_token', { body: { refresh_token } })
    if (next) {
      user.session = next
      user.refreshes += 1
    }
    const token = user.session.access_token
    await send('/user', { token })
    const note = user.note + 1
    const isWritten = await send('/user', { method: 'PUT', body: { data: { note } }, token })
    if (isWritten) user.note = note
  }

  async function addShortLivedUser(): Promise<void> {
    const user = await addUser()
    if (!user) return
    await useSession(user)
    await useSession(user)
    const { email } = user
    if (await send('/recover', { body: { email } })) mailed.push(email)
  }

  const longLivedUsers = new Map<number, User>()
  const stop = startMany(count, async (_isOver, client) => {
    const longLivedUser = longLivedUsers.get(client) ?? (await addUser())
    if (longLivedUser) {
      longLivedUsers.set(client, longLivedUser)
      await useSession(longLivedUser)
    }
    await addShortLivedUser()
  })
  return { requester, users, ended, mailed, stop }
}

/** The amount of acknowledged data missing at that time. */
export async function countLostActivity(databaseUrl: string, activity: Activity): Promise<number> {
  const users = activity.users.map((user) => ({ ...user }))
  const ended = [...activity.ended]
  const found = await findLosses(databaseUrl, { sessions: users, mailed: [...activity.mailed] })
  const lost = await query(databaseUrl, {
    text: `select id::text from unnest($1::uuid[], $2::int[]) as kept (user_id, note)
          left join auth.users u on u.id = kept.user_id
          where coalesce((raw_user_meta_data ->> 'note')::int, 0) < kept.note
        union all select id::text from auth.sessions where id = any ($3::uuid[])`,
    values: [users.map(({ userId }) => userId), users.map(({ note }) => note), ended],
  })
  return found.sessions + found.users + lost.length
}
