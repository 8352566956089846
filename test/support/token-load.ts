/** Clients of several replicas that continuously sign in, refresh, get the user and verify tokens. */
import { setTimeout as pause } from 'node:timers/promises'

import { createRemoteJWKSet, jwtVerify } from 'jose'

import type { Session } from '../../schemas/session.ts'

export interface User {
  email: string
  password: string
}

/** Another server, which verifies tokens by the published keys only. */
export type Verifier = (token: string, now: Date) => Promise<unknown>

/** Caches the key set as long as allowed, and does not refetch it for an unknown key. */
export function createVerifier(url: string, cacheSeconds: number): Verifier {
  const keys = createRemoteJWKSet(new URL('/.well-known/jwks.json', url), {
    cacheMaxAge: cacheSeconds * 1000,
    cooldownDuration: Number.POSITIVE_INFINITY,
  })
  return (token, currentDate) => jwtVerify(token, keys, { currentDate })
}

export interface LoadOptions {
  urls: readonly string[]
  users: readonly User[]
  verifiers: readonly Verifier[]
}

export function startLoad({ urls, users, verifiers }: LoadOptions) {
  const failures: string[] = []
  const done = { signIns: 0, refreshes: 0, looks: 0, verifications: 0 }
  let turn = 0
  let isStopped = false
  /** Each request goes to the next replica, so that no token stays with its issuer. */
  const nextUrl = () => urls[turn++ % urls.length] ?? ''

  async function live(user: User): Promise<void> {
    while (!isStopped) {
      let session = await grant('password', user)
      done.signIns += 1
      for (let round = 0; round < 5 && !isStopped; round++) {
        await show(session)
        session = await grant('refresh_token', { refresh_token: session.refresh_token })
        done.refreshes += 1
      }
      await show(session)
    }
  }

  async function grant(type: string, body: object): Promise<Session> {
    const response = await fetch(`${nextUrl()}/token?grant_type=${type}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`${type}: ${response.status} ${await response.text()}`)
    return (await response.json()) as Session
  }

  async function show({ access_token }: Session): Promise<void> {
    for (const url of urls) {
      const { status } = await fetchCurrentUser(url, access_token)
      if (status !== 200) throw new Error(`GET /user at ${url}: ${status}`)
      done.looks += 1
    }
    await Promise.all(verifiers.map((verify) => verify(access_token, new Date())))
    done.verifications += verifiers.length
    await pause(1)
  }

  const lives = users.map((user) =>
    live(user).catch((error) => {
      failures.push(String(error))
    }),
  )

  return {
    failures,
    done,
    async stop(): Promise<void> {
      isStopped = true
      await Promise.all(lives)
    },
  }
}

/** GET /user; the status and error code of the response. */
export async function fetchCurrentUser(url: string, token: string) {
  const response = await fetch(`${url}/user`, { headers: { authorization: `Bearer ${token}` } })
  const { error_code } = (await response.json()) as { error_code?: string }
  return { status: response.status, error_code }
}
