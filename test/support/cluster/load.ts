/**
 * Users of a cluster under load: they sign up and in, refresh, are read and changed, and follow mailed links. Records
 * what was acknowledged, and which requests may have taken effect or not.
 */
import { decodeJwt } from 'jose'

import { startMany } from '../../services/request-loop.ts'
import { linkIn } from '../messages/mail-links.ts'
import type { MailServer } from '../messages/mail-server.ts'
import { until } from '../processes/until.ts'
import { password } from '../users.ts'
import { createClient, type Reply } from './client.ts'

interface Session {
  access_token: string
  refresh_token: string
  user: { id: string }
}

interface LoadUser {
  email: string
  userId: string
  sessionId: string
  session: Session
  /** Acknowledged exchanges of the refresh token, and those whose outcome is unknown. */
  refreshes: number
  unknown: number
  /** The last exchanged token, and the one before it, whose successor was used. */
  last?: string
  consumed?: string
  /** The value last written into the metadata; 0 before. */
  note: number
}

/** A link of a mail: how often it was accepted. */
interface UsedLink {
  hash: string
  uses: number
}

interface LoadOptions {
  urls: readonly string[]
  mail: MailServer
  clients: number
}

export type Load = ReturnType<typeof startLoad>

/** Each client has one user with a long-lived session, and further users. */
export function startLoad({ urls, mail, clients }: LoadOptions) {
  const aborting = new AbortController()
  const client = createClient(urls, aborting.signal)
  const users: LoadUser[] = []
  const mailed: string[] = []
  const links: UsedLink[] = []
  const rejected: string[] = []

  async function request(...[path, requested]: Parameters<typeof client.send>): Promise<Reply> {
    const reply = await client.send(path, requested)
    if (reply.status >= 400 && reply.status < 500) rejected.push(`${path} ${reply.text}`)
    return reply
  }

  async function addUser(): Promise<LoadUser | undefined> {
    const email = `${crypto.randomUUID()}@example.com`
    const body = { email, password }
    if (!isDone(await request('/signup', { body }))) return undefined
    const reply = await request('/token?grant_type=password', { body })
    if (!isDone(reply)) return undefined
    const session: Session = JSON.parse(reply.text)
    const sessionId = String(decodeJwt(session.access_token).session_id)
    const userId = session.user.id
    const user = { email, userId, sessionId, session, refreshes: 0, unknown: 0, note: 0 }
    users.push(user)
    return user
  }

  /** False once the session is revoked. */
  async function refresh(user: LoadUser): Promise<boolean> {
    const { refresh_token } = user.session
    const body = { refresh_token }
    const reply = await request('/token?grant_type=refresh_token', { body })
    if (!isDone(reply)) {
      user.unknown += 1
      return reply.status === 0 || reply.status >= 500
    }
    if (user.last !== undefined) user.consumed = user.last
    user.last = refresh_token
    user.refreshes += 1
    user.session = JSON.parse(reply.text)
    return true
  }

  async function useSession(user: LoadUser): Promise<boolean> {
    if (!(await refresh(user))) return false
    const token = user.session.access_token
    await request('/user', { token })
    const note = user.note + 1
    const reply = await request('/user', { method: 'PUT', body: { data: { note } }, token })
    if (isDone(reply)) user.note = note
    return true
  }

  /** Of another user: the verification of an address revokes sessions created without one. */
  async function requestLink(): Promise<void> {
    const email = `${crypto.randomUUID()}@example.com`
    if (isDone(await request('/otp', { body: { email } }))) mailed.push(email)
  }

  let read = 0
  /** Twice concurrently: one request may succeed. */
  async function followLink(): Promise<void> {
    const message = mail.messages[read]
    if (message === undefined) return
    read += 1
    const hash = new URL(linkIn(message)).searchParams.get('token') ?? ''
    const link = { hash, uses: 0 }
    links.push(link)
    await Promise.all([useLink(link), useLink(link)])
  }

  async function useLink(link: UsedLink, by = client): Promise<void> {
    const body = { type: 'email', token_hash: link.hash }
    for (let attempt = 0; attempt < 20; attempt++) {
      const reply = await by.send('/verify', { body })
      if (isDone(reply)) link.uses += 1
      if (reply.status !== 0 && reply.status < 500) return
    }
  }

  const longLivedUsers = new Map<number, LoadUser>()
  const stop = startMany(clients, async (_isOver, index) => {
    const longLivedUser = longLivedUsers.get(index) ?? (await addUser())
    if (longLivedUser && (await useSession(longLivedUser))) longLivedUsers.set(index, longLivedUser)
    else longLivedUsers.delete(index)
    const shortLivedUser = await addUser()
    if (shortLivedUser) await useSession(shortLivedUser)
    await requestLink()
    await followLink()
  })

  return {
    client,
    users,
    mailed,
    links,
    rejected,
    mail,
    stop,

    /** For the end of a test whose servers may not respond. */
    async abort(): Promise<void> {
      aborting.abort()
      await stop()
    },

    /** Waits until every client has its users. */
    untilStarted: () => until(() => links.length >= 2 * clients),

    /** How many refresh tokens and links are accepted once more, after the load. */
    async countAcceptedAgain() {
      const retrying = createClient(urls, aborting.signal)
      let refreshTokens = 0
      for (const { consumed } of users) {
        if (consumed === undefined) continue
        const body = { refresh_token: consumed }
        const reply = await retrying.send('/token?grant_type=refresh_token', { body })
        if (reply.status !== 400) refreshTokens += 1
      }
      for (const link of links) await useLink(link, retrying)
      return { refreshTokens, links: links.filter(({ uses }) => uses > 1).length }
    },
  }
}

function isDone({ status }: Reply): boolean {
  return status >= 200 && status < 300
}
