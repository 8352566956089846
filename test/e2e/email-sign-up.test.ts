/** The first journey of a user, by the published client SDK over HTTP and real mail. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { AuthApiError, AuthClient } from '@supabase/auth-js'
import { createRemoteJWKSet, jwtVerify } from 'jose'

import { linkIn } from '../support/messages/mail-links.ts'
import { build } from '../support/server.ts'

suite('sign-up, confirmation, sign-in, refresh and sign-out', () => {
  test('succeed with the SDK', async (t) => {
    const { client, mail, url } = await listen(t)
    const email = 'ann@example.com'
    const password = 'correct horse battery'

    const signedUp = await client.signUp({ email, password, options: { data: { name: 'Ann' } } })
    assert.equal(signedUp.error, null)
    assert.equal(signedUp.data.session, null)
    assert.equal(signedUp.data.user?.identities?.length, 1)

    const link = linkIn(await mail.waitFor(email))
    const opened = await fetch(link.replace(/^http:\/\/auth\.example/, url), { redirect: 'manual' })
    assert.equal(opened.status, 303)
    const location = new URL(opened.headers.get('location') ?? '')
    assert.equal(location.origin, 'http://app.example')
    const fragment = new URLSearchParams(location.hash.slice(1))
    assert.equal(fragment.get('type'), 'signup')
    assert.ok(fragment.get('access_token'))

    const signedIn = await client.signInWithPassword({ email, password })
    assert.equal(signedIn.error, null)
    const user = await client.getUser()
    assert.equal(user.data.user?.email, email)
    assert.ok(user.data.user?.email_confirmed_at)
    const claims = await client.getClaims()
    assert.equal(claims.error, null)
    assert.equal(claims.data?.claims.sub, user.data.user?.id)

    const jwks = createRemoteJWKSet(new URL(`${url}/.well-known/jwks.json`))
    const verified = await jwtVerify(signedIn.data.session?.access_token ?? '', jwks)
    assert.equal(verified.payload.role, 'authenticated')

    const before = signedIn.data.session?.refresh_token ?? ''
    const refreshed = await client.refreshSession()
    assert.equal(refreshed.error, null)
    assert.notEqual(refreshed.data.session?.refresh_token, before)
    const updated = await client.updateUser({ data: { name: 'Ann Lee', likes: null } })
    assert.equal(updated.error, null)
    assert.equal(updated.data.user?.user_metadata.name, 'Ann Lee')

    const last = refreshed.data.session?.refresh_token ?? ''
    assert.equal((await client.signOut()).error, null)
    const rejected = await client.refreshSession({ refresh_token: last })
    assert.ok(rejected.error instanceof AuthApiError)
    assert.equal(rejected.error.code, 'refresh_token_not_found')
  })
})

async function listen(t: TestContext) {
  const { app, mail } = await build(t)
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const client = new AuthClient({ url, autoRefreshToken: false, persistSession: false })
  return { client, mail, url }
}
