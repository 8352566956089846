/** Requests of users created before the measurement. */
import type { Load } from './core/scenario.ts'
import type { Target } from './core/target.ts'
import { newEmail, password } from './core/users.ts'

export interface Session {
  user: { id: string }
  access_token: string
  refresh_token: string
}

export function signIn(target: Target, email: string): Promise<Session> {
  return target.call({
    method: 'POST',
    path: '/token?grant_type=password',
    body: { email, password },
  })
}

export function getUser(sessions: Session[]): Load {
  return {
    request: (i) => ({
      method: 'GET',
      path: '/user',
      token: sessions[i % sessions.length]?.access_token ?? '',
    }),
  }
}

/** Each connection has its share of the sessions, so that no token is sent twice. */
export function refresh(sessions: Session[], connections: number): Load {
  const tokens = sessions.map(({ refresh_token }) => refresh_token)
  const share = Math.floor(tokens.length / connections)
  const turns = Array.from({ length: connections }, () => 0)
  const place = (connection: number) => connection * share + ((turns[connection] ?? 0) % share)
  return {
    request: (_i, connection) => ({
      method: 'POST',
      path: '/token?grant_type=refresh_token',
      body: { refresh_token: tokens[place(connection)] },
    }),
    answered(body, connection) {
      tokens[place(connection)] = JSON.parse(body).refresh_token
      turns[connection] = (turns[connection] ?? 0) + 1
    },
  }
}

export function signIns(emails: string[]): Load {
  return {
    request: (i) => ({
      method: 'POST',
      path: '/token?grant_type=password',
      body: { email: emails[i % emails.length], password },
    }),
  }
}

/** A different value of the user’s metadata each time. */
export function putUser(sessions: Session[]): Load {
  return {
    request: (i) => ({
      method: 'PUT',
      path: '/user',
      token: sessions[i % sessions.length]?.access_token ?? '',
      body: { data: { visits: i } },
    }),
  }
}

export function adminGet(sessions: Session[], token: string): Load {
  return {
    request: (i) => ({
      method: 'GET',
      path: `/admin/users/${sessions[i % sessions.length]?.user.id}`,
      token,
    }),
  }
}

export function adminList(token: string): Load {
  return { request: () => ({ method: 'GET', path: '/admin/users?page=1&per_page=50', token }) }
}

/** A new address every time, with its email. */
export function signUps(): Load {
  return {
    request: () => ({ method: 'POST', path: '/signup', body: { email: newEmail(), password } }),
  }
}

export function anonymousSignUps(): Load {
  return { request: () => ({ method: 'POST', path: '/signup', body: {} }) }
}
