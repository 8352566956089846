/** @supabase/supabase-js, which uses this server under /auth/v1 as behind a gateway. */
import assert from 'node:assert/strict'

import { createClient } from '@supabase/supabase-js'

import { newAddress, newNumber, password } from '../support/users.ts'
import { client } from './journeys.ts'
import { memory } from './memory.ts'
import { site } from './world.ts'

client('supabase-js', async (world, runJourney) => {
  const { url, anonKey, serviceKey, nextEmail, nextText, open, visit, idToken, totp } = world

  function newClient(key = anonKey) {
    const auth = { storage: memory(), autoRefreshToken: false, flowType: 'pkce' as const }
    return createClient(url, key, { auth }).auth
  }

  async function registeredUser() {
    const [email, auth] = [newAddress(), newClient()]
    ok(await auth.signUp({ email, password }))
    const { code: token } = await nextEmail(email)
    ok(await auth.verifyOtp({ email, token, type: 'email' }))
    return { email, auth }
  }

  await runJourney('sign-up and confirmation', async () => {
    const [email, auth] = [newAddress(), newClient()]
    ok(await auth.signUp({ email, password, options: { emailRedirectTo: site } }))
    const redirect = await open((await nextEmail(email)).link)
    const { data } = ok(await auth.exchangeCodeForSession(redirect.searchParams.get('code') ?? ''))
    assert.equal(data.user?.email, email)
  })

  await runJourney('password, user, metadata', async () => {
    const { email } = await registeredUser()
    const auth = newClient()
    ok(await auth.signInWithPassword({ email, password }))
    ok(await auth.updateUser({ data: { likes: 'tea' } }))
    assert.equal((await auth.getUser()).data.user?.user_metadata.likes, 'tea')
    assert.equal((await auth.getClaims()).data?.claims.email, email)
  })

  await runJourney('refresh and sign-out', async () => {
    const { auth } = await registeredUser()
    const { data } = ok(await auth.refreshSession())
    ok(await auth.signOut())
    const { refresh_token = '' } = data.session ?? {}
    const again = await auth.refreshSession({ refresh_token })
    assert.equal(again.error?.code, 'refresh_token_not_found')
  })

  await runJourney('code by email', async () => {
    const [email, auth] = [newAddress(), newClient()]
    ok(await auth.signInWithOtp({ email }))
    const { code: token } = await nextEmail(email)
    ok(await auth.verifyOtp({ email, token, type: 'email' }))
  })

  await runJourney('recovery, new password', async () => {
    const { email } = await registeredUser()
    const auth = newClient()
    ok(await auth.resetPasswordForEmail(email))
    const redirect = await open((await nextEmail(email)).link)
    ok(await auth.exchangeCodeForSession(redirect.searchParams.get('code') ?? ''))
    ok(await auth.updateUser({ password: 'a brand new password' }))
  })

  await runJourney('phone', async () => {
    const [phone, auth] = [newNumber(), newClient()]
    ok(await auth.signInWithOtp({ phone }))
    ok(await auth.verifyOtp({ phone, token: await nextText(phone), type: 'sms' }))
  })

  await runJourney('anonymous user', async () => {
    assert.equal(ok(await newClient().signInAnonymously()).data.user?.is_anonymous, true)
  })

  await runJourney('external provider', async () => {
    const auth = newClient()
    const options = { skipBrowserRedirect: true, redirectTo: site }
    const { data } = ok(await auth.signInWithOAuth({ provider: 'github', options }))
    assert.ok(data.url?.startsWith(`${url}/auth/v1/authorize`))
    const redirect = await visit(data.url ?? '')
    ok(await auth.exchangeCodeForSession(redirect.searchParams.get('code') ?? ''))
  })

  await runJourney('ID token', async () => {
    const token = await idToken('kim', 'kim@ex.test')
    ok(await newClient().signInWithIdToken({ provider: 'keycloak', token }))
  })

  await runJourney('second factor', async () => {
    const { auth } = await registeredUser()
    const enrolled = await auth.mfa.enroll({ factorType: 'totp' })
    const { id: factorId, totp: app } = enrolled.data ?? assert.fail(enrolled.error.message)
    ok(await auth.mfa.challengeAndVerify({ factorId, code: totp(app.secret) }))
  })

  await runJourney('admin', async () => {
    const { admin } = newClient(serviceKey)
    const { data } = ok(await admin.createUser({ email: newAddress(), email_confirm: true }))
    ok(await admin.listUsers())
    ok(await admin.deleteUser(data.user?.id ?? ''))
    assert.equal((await newClient().admin.listUsers()).error?.code, 'not_admin')
  })

  await runJourney('error codes', async () => {
    const wrong = await newClient().signInWithPassword({ email: newAddress(), password })
    assert.equal(wrong.error?.code, 'invalid_credentials')
  })
})

function ok<Answer extends { error: unknown }>(response: Answer): Answer {
  assert.equal(response.error, null)
  return response
}
