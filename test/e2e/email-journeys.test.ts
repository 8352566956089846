/** Each email flow with the published SDK over HTTP. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { AuthClient, type EmailOtpType } from '@supabase/auth-js'

import { nextEmail } from '../support/messages/mail-journeys.ts'
import { codeIn, linkIn } from '../support/messages/mail-links.ts'
import type { ReceivedMail } from '../support/messages/mail-server.ts'
import { listeningPort } from '../support/processes/listening.ts'
import { sharedServers } from '../support/processes/shared-servers.ts'
import { call } from '../support/requests.ts'
import type { Built } from '../support/server.ts'
import { adminToken, newAddress, password } from '../support/users.ts'

type Client = InstanceType<typeof AuthClient>

interface World extends Built {
  url: string
  /** A browser with its own storage. */
  client: (flowType?: 'implicit' | 'pkce') => Client
}

function worldAt(server: Built): World {
  const url = `http://127.0.0.1:${listeningPort(server.app.server)}`
  const client = (flowType: 'implicit' | 'pkce' = 'implicit') => {
    const items = new Map<string, string>()
    const storage = {
      getItem: (key: string) => items.get(key) ?? null,
      setItem: (key: string, value: string) => void items.set(key, value),
      removeItem: (key: string) => void items.delete(key),
    }
    return new AuthClient({ url, flowType, storage, persistSession: true, autoRefreshToken: false })
  }
  return { ...server, url, client }
}

/** The redirect of the link, as the browser sees it. */
async function follow({ url }: World, message: ReceivedMail): Promise<URL> {
  const link = linkIn(message).replace('http://auth.example', url)
  const response = await fetch(link, { redirect: 'manual' })
  assert.equal(response.status, 303)
  return new URL(response.headers.get('location') ?? '')
}

/** Handles the address as the SDK does in a browser. */
async function land(client: Client, address: URL) {
  const code = address.searchParams.get('code')
  if (code) return client.exchangeCodeForSession(code)
  const fragment = new URLSearchParams(address.hash.slice(1))
  return client.setSession({
    access_token: fragment.get('access_token') ?? '',
    refresh_token: fragment.get('refresh_token') ?? '',
  })
}

function ok<Answer extends { error: unknown }>(response: Answer): Answer {
  assert.equal(response.error, null)
  return response
}

/** A confirmed user with a separate client. */
async function signedUpClient(at: World, email: string): Promise<Client> {
  const client = at.client()
  ok(await client.signUp({ email, password }))
  const token = codeIn(await nextEmail(at, email))
  ok(await client.verifyOtp({ email, token, type: 'signup' }))
  return client
}

suite('email flows by SDK', () => {
  const servers = sharedServers()
  async function world(env: Record<string, string> = {}): Promise<World> {
    const server = await servers(env)
    if (!server.app.server.listening) await server.app.listen({ host: '127.0.0.1', port: 0 })
    return worldAt(server)
  }

  for (const flowType of ['implicit', 'pkce'] as const) {
    test(`${flowType}: sign-up, sign-in link and recovery link`, async () => {
      const at = await world()
      const email = newAddress()
      const client = at.client(flowType)
      const steps = [
        () => client.signUp({ email, password }),
        () =>
          client.signInWithOtp({ email, options: { emailRedirectTo: 'http://app.example/in' } }),
        () => client.resetPasswordForEmail(email, { redirectTo: 'http://app.example/reset' }),
      ]
      for (const step of steps) {
        const since = at.mail.messages.length
        ok(await step())
        const address = await follow(at, await nextEmail(at, email, since))
        const { data } = ok(await land(client, address))
        assert.equal(data.user?.email, email)
        ok(await client.signOut())
      }
    })

    test(`${flowType}: password change after recovery, and email change by both links`, async () => {
      const at = await world()
      const email = newAddress()
      await signedUpClient(at, email)
      const client = at.client(flowType)
      const since = at.mail.messages.length
      ok(await client.resetPasswordForEmail(email))
      ok(await land(client, await follow(at, await nextEmail(at, email, since))))
      ok(await client.updateUser({ password: 'a brand new password' }))
      ok(await at.client().signInWithPassword({ email, password: 'a brand new password' }))

      const newValue = newAddress('new')
      const before = at.mail.messages.length
      const requested = ok(await client.updateUser({ email: newValue }))
      assert.equal(requested.data.user?.new_email, newValue)
      const first = await follow(at, await nextEmail(at, email, before))
      assert.match(first.href, /message=/)
      const second = await follow(at, await nextEmail(at, newValue, before))
      const { data } = ok(await land(client, second))
      assert.equal(data.user?.email, newValue)
    })
  }

  const typed: { type: EmailOtpType; send: (at: World, email: string) => Promise<unknown> }[] = [
    { type: 'signup', send: (at, email) => at.client().signUp({ email, password }) },
    { type: 'email', send: (at, email) => at.client().signInWithOtp({ email }) },
    {
      type: 'magiclink',
      send: async (at, email) => {
        await signedUpClient(at, email)
        return at.client().signInWithOtp({ email, options: { shouldCreateUser: false } })
      },
    },
    {
      type: 'recovery',
      send: async (at, email) => {
        await signedUpClient(at, email)
        return at.client().resetPasswordForEmail(email)
      },
    },
    {
      type: 'invite',
      send: async (at, email) =>
        call(at.app, '/invite', { email }, { token: await adminToken(at.app) }),
    },
  ]
  for (const { type, send } of typed) {
    for (const form of ['code', 'token_hash']) {
      test(`verifyOtp ${type} by ${form}`, async () => {
        const at = await world()
        const email = newAddress()
        await send(at, email)
        const subjects = { invite: /invited/, recovery: /Reset/, magiclink: /sign-in link/ }
        const expected = type in subjects ? subjects[type as keyof typeof subjects] : /Confirm/
        const message = await at.mail.waitFor(
          ({ to, mail }) => to === email && expected.test(mail.subject ?? ''),
        )
        const token_hash = new URL(linkIn(message)).searchParams.get('token') ?? ''
        const client = at.client()
        const response =
          form === 'code'
            ? await client.verifyOtp({ email, token: codeIn(message), type })
            : await client.verifyOtp({ token_hash, type })
        const { data } = ok(response)
        assert.equal(data.user?.email, email)
        assert.equal((await client.getUser()).data.user?.email, email)
      })
    }
  }

  test('verifyOtp email_change by both codes', async () => {
    const at = await world()
    const email = newAddress()
    const client = await signedUpClient(at, email)
    const newValue = newAddress('new')
    const since = at.mail.messages.length
    ok(await client.updateUser({ email: newValue }))
    for (const address of [email, newValue]) {
      const token = codeIn(await nextEmail(at, address, since))
      ok(await client.verifyOtp({ email: address, token, type: 'email_change' }))
    }
    assert.equal((await client.getUser()).data.user?.email, newValue)
  })

  test('updateUser with the nonce of reauthenticate', async () => {
    const at = await world({
      AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_REAUTHENTICATION: 'true',
    })
    const email = newAddress()
    const client = await signedUpClient(at, email)
    const created_at = new Date(Date.now() - 25 * 3_600_000)
    await at.app.db.updateTable('sessions').set({ created_at }).execute()
    const rejected = await client.updateUser({ password: 'another password' })
    assert.equal(rejected.error?.code, 'reauthentication_needed')
    const since = at.mail.messages.length
    ok(await client.reauthenticate())
    const nonce = codeIn(await nextEmail(at, email, since))
    ok(await client.updateUser({ password: 'another password', nonce }))
  })

  test('resend of a confirmation and an email change', async () => {
    const at = await world()
    const email = newAddress()
    const client = at.client()
    ok(await client.signUp({ email, password }))
    await nextEmail(at, email)
    const first = at.mail.messages.length
    ok(await client.resend({ type: 'signup', email }))
    const newest = await nextEmail(at, email, first)
    ok(await client.verifyOtp({ email, token: codeIn(newest), type: 'signup' }))

    const newValue = newAddress('new')
    ok(await client.updateUser({ email: newValue }))
    await nextEmail(at, newValue)
    const second = at.mail.messages.length
    ok(await client.resend({ type: 'email_change', email }))
    await nextEmail(at, newValue, second)
  })

  test('errors have codes that the SDK defines', async () => {
    const at = await world()
    const client = at.client()
    const email = newAddress()
    const wrong = await client.verifyOtp({ email, token: '123456', type: 'email' })
    assert.equal(wrong.error?.code, 'otp_expired')
    const unknown = await client.signInWithOtp({ email, options: { shouldCreateUser: false } })
    assert.equal(unknown.error, null)
    const code = await at.client('pkce').exchangeCodeForSession(crypto.randomUUID())
    assert.ok(code.error)
  })
})
