/** A server with GitHub and GitLab on loopback, and the users of these providers. */
import assert from 'node:assert/strict'

import type { Ending } from './processes/ending.ts'
import { cases } from './providers/documented.ts'
import { client, type FakeProvider, startFakeProvider } from './providers/fake-provider.ts'
import { type BuildOptions, build } from './server.ts'

export interface ProviderUser {
  /** Digits. */
  id: string
  /** The first is the primary one. */
  emails: { email: string; verified: boolean }[]
  name?: string
}

export const verifiedProfile = (email: string, id: string) => ({
  id,
  emails: [{ email, verified: true }],
})
export const unverifiedProfile = (email: string, id: string) => ({
  id,
  emails: [{ email, verified: false }],
})

export type ProviderName = 'github' | 'gitlab'

export interface Start {
  path?: string
  query?: Record<string, string>
  headers?: Record<string, string>
}

export type ExternalServer = Awaited<ReturnType<typeof externalServer>>

export function providerEnv(name: string, url: string): Record<string, string> {
  const prefix = `AUTH_EXTERNAL_${name.toUpperCase()}`
  return {
    [`${prefix}_ENABLED`]: 'true',
    [`${prefix}_CLIENT_ID`]: client.id,
    [`${prefix}_SECRET`]: client.secret,
    [`${prefix}_REDIRECT_URI`]: client.redirectUri,
    [`${prefix}_URL`]: url,
  }
}

export async function externalServer(t: Ending, options: BuildOptions = {}) {
  const fakes = { github: await startFake(t, 'github'), gitlab: await startFake(t, 'gitlab') }
  const env = {
    AUTH_JWT_ALLOWED_AUDIENCES: 'other',
    ...providerEnv('github', fakes.github.origin),
    ...providerEnv('gitlab', fakes.gitlab.origin),
    AUTH_SECURITY_MANUAL_LINKING_ENABLED: 'true',
    AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
    ...options.env,
  }
  const built = await build(t, { ...options, env })
  const { app } = built

  /** From the server to the provider and back to the parameters of the callback. */
  async function startSignIn(
    provider: ProviderName,
    start: Start = {},
  ): Promise<Record<string, string>> {
    const { path = '/authorize', query = {}, headers = {} } = start
    const url = `${path}?${new URLSearchParams({ provider, ...query })}`
    const sent = await app.inject({ url, headers })
    assert.equal(sent.statusCode, 302, sent.body)
    const back = await fetch(String(sent.headers.location), { redirect: 'manual' })
    assert.equal(back.status, 302, fakes[provider].deviations.join())
    return Object.fromEntries(new URL(back.headers.get('location') ?? '').searchParams)
  }

  async function finishSignIn(params: Record<string, string>) {
    const response = await app.inject(`/callback?${new URLSearchParams(params)}`)
    const location = new URL(String(response.headers.location))
    const query = Object.fromEntries(location.searchParams)
    const fragment = Object.fromEntries(new URLSearchParams(location.hash.slice(1)))
    return { status: response.statusCode, location, query, fragment }
  }

  async function signInWith(provider: ProviderName, who: ProviderUser, start: Start = {}) {
    describe(fakes, provider, who)
    return finishSignIn(await startSignIn(provider, start))
  }

  /** The stored data of a user. */
  async function findUserBy(identity: { provider: string; id: string }) {
    const row = await app.db
      .selectFrom('identities')
      .innerJoin('users', 'users.id', 'identities.user_id')
      .selectAll('users')
      .where('provider', '=', identity.provider)
      .where('provider_id', '=', identity.id)
      .executeTakeFirst()
    const identities = await app.db
      .selectFrom('identities')
      .select(['provider', 'provider_id', 'identity_data', 'last_sign_in_at', 'updated_at'])
      .where('user_id', '=', row?.id ?? null)
      .orderBy('created_at')
      .execute()
    return row && { ...row, identities }
  }

  async function countUsers(): Promise<number> {
    const query = app.db.selectFrom('users').select((eb) => eb.fn.countAll().as('count'))
    return Number((await query.executeTakeFirstOrThrow()).count)
  }

  async function auditActions(userId: string): Promise<string[]> {
    const rows = await app.db
      .selectFrom('audit_log_entries')
      .select('payload')
      .orderBy('created_at')
      .execute()
    return rows
      .filter(({ payload }) => payload.actor_id === userId)
      .map((row) => row.payload.action)
  }

  const helpers = {
    startSignIn: startSignIn,
    finishSignIn: finishSignIn,
    signInWith,
    findUserBy,
    countUsers,
  }
  return { ...built, ...helpers, auditActions, fakes }
}

async function startFake(t: Ending, name: ProviderName) {
  const documented = cases[name]?.documented
  assert.ok(documented)
  return startFakeProvider(t, documented)
}

/** The user that the provider returns from now on. */
export function describe(
  fakes: Record<ProviderName, FakeProvider>,
  provider: ProviderName,
  { id, emails, name = 'Ann Lee' }: ProviderUser,
) {
  const json = (body: unknown) => ({ body: JSON.stringify(body) })
  const { instead } = fakes[provider]
  if (provider === 'github') {
    const list = emails.map((entry, index) => ({ ...entry, primary: index === 0 }))
    instead.set('/api/v3/user', json({ id: Number(id), login: `user${id}`, name }))
    instead.set('/api/v3/user/emails', json(list))
    return
  }
  const [first] = emails
  const confirmed_at = first?.verified ? '2020-02-02T00:00:00Z' : null
  instead.set('/api/v4/user', json({ id: Number(id), name, email: first?.email, confirmed_at }))
  instead.set('/api/v4/user/emails', json(emails.slice(1).map(({ email }) => ({ id: 1, email }))))
}
