/** @supabase/auth-js: every method that its documentation has, on the main ways of a person. */
import assert from 'node:assert/strict'

import { AuthClient, GoTrueAdminApi, isAuthApiError } from '@supabase/auth-js'

import { newDevice } from '../support/passkeys.ts'
import { newAddress, newNumber, password } from '../support/people.ts'
import { client } from './journeys.ts'
import { memory } from './memory.ts'
import { documentedMethods, methodsOf, needsBrowser, recording } from './sdk-methods.ts'
import { site } from './world.ts'

const experimental = { passkey: true, recoveryCodes: true }

client('auth-js', async (world, walk, t) => {
  const { url, serviceKey, nextMail, nextCode, nextText, open, visit, idToken, totp } = world
  const called = new Set<string>()
  const record = <Api extends object>(api: Api, name: string) => recording(api, name, called)

  function newClient(flowType: 'implicit' | 'pkce' = 'pkce') {
    const storage = memory()
    const options = { flowType, storage, autoRefreshToken: false, persistSession: true }
    const api = new AuthClient({ url, ...options, experimental })
    t.after(() => api.stopAutoRefresh())
    return record(api, 'client')
  }
  const headers = { Authorization: `Bearer ${serviceKey}` }
  const admin = record(new GoTrueAdminApi({ url, headers, experimental }), 'admin')

  async function member() {
    const [email, api] = [newAddress(), newClient()]
    ok(await api.signUp({ email, password, options: { data: { name: 'Ann' } } }))
    const { code: token } = await nextMail(email)
    const { data } = ok(await api.verifyOtp({ email, token, type: 'email' }))
    return { email, api, userId: data.user?.id ?? '' }
  }

  await walk('sign-up and confirmation', async () => {
    const [email, api] = [newAddress(), newClient()]
    await api.initialize()
    assert.equal(api.isThrowOnErrorEnabled(), false)
    const first = ok(await api.signUp({ email, password, options: { emailRedirectTo: site } }))
    assert.equal(first.data.session, null)
    ok(await api.resend({ type: 'signup', email }))
    await nextMail(email)
    const landed = await open((await nextMail(email)).link)
    const code = landed.searchParams.get('code') ?? ''
    const { data } = ok(await api.exchangeCodeForSession(code))
    assert.equal(data.user?.email, email)
  })

  await walk('password, user, metadata', async () => {
    const { email } = await member()
    const api = newClient()
    const events: string[] = []
    const { data: listening } = api.onAuthStateChange((event) => void events.push(event))
    ok(await api.signInWithPassword({ email, password }))
    ok(await api.updateUser({ data: { likes: 'tea' } }))
    assert.equal((await api.getUser()).data.user?.user_metadata.likes, 'tea')
    assert.equal((await api.getClaims()).data?.claims.email, email)
    assert.equal((await api.getSession()).data.session?.user.email, email)
    listening.subscription.unsubscribe()
    assert.ok(events.includes('SIGNED_IN') && events.includes('USER_UPDATED'), events.join())
  })

  await walk('refresh and sign-out', async () => {
    const { api } = await member()
    const { data } = ok(await api.refreshSession())
    const { access_token = '', refresh_token = '' } = data.session ?? {}
    const other = newClient()
    ok(await other.setSession({ access_token, refresh_token }))
    await other.startAutoRefresh()
    await other.stopAutoRefresh()
    ok(await other.signOut({ scope: 'local' }))
    assert.equal((await api.refreshSession()).error?.code, 'refresh_token_not_found')
    await other.dispose()
  })

  await walk('code by email', async () => {
    const [email, api] = [newAddress(), newClient('implicit')]
    ok(await api.signInWithOtp({ email }))
    const { code: token } = await nextMail(email)
    ok(await api.verifyOtp({ email, token, type: 'email' }))
    ok(await api.reauthenticate())
    const nonce = await nextCode(email)
    ok(await api.updateUser({ password: 'a brand new password', nonce }))
  })

  await walk('recovery, new password', async () => {
    const { email } = await member()
    const api = newClient()
    ok(await api.resetPasswordForEmail(email, { redirectTo: site }))
    const landed = await open((await nextMail(email)).link)
    ok(await api.exchangeCodeForSession(landed.searchParams.get('code') ?? ''))
    ok(await api.updateUser({ password: 'a brand new password' }))
    ok(await newClient().signInWithPassword({ email, password: 'a brand new password' }))
  })

  await walk('new address', async () => {
    const { api, email } = await member()
    const wanted = newAddress('new')
    ok(await api.updateUser({ email: wanted }))
    for (const to of [email, wanted]) await open((await nextMail(to)).link)
    assert.equal(ok(await api.getUser()).data.user?.email, wanted)
  })

  await walk('phone', async () => {
    const [phone, api] = [newNumber(), newClient()]
    ok(await api.signInWithOtp({ phone }))
    const token = await nextText(phone)
    const { data } = ok(await api.verifyOtp({ phone, token, type: 'sms' }))
    assert.equal(data.user?.phone, phone)
  })

  await walk('anonymous person', async () => {
    const api = newClient()
    const { data } = ok(await api.signInAnonymously({ options: { data: { a: 1 } } }))
    assert.equal(data.user?.is_anonymous, true)
  })

  await walk('external provider', async () => {
    const api = newClient()
    const options = { skipBrowserRedirect: true, redirectTo: site }
    const started = ok(await api.signInWithOAuth({ provider: 'github', options }))
    const landed = await visit(started.data.url ?? '')
    const code = landed.searchParams.get('code') ?? ''
    const { data } = ok(await api.exchangeCodeForSession(code))
    assert.equal(data.session?.provider_token, 'at1')
  })

  await walk('ID token', async () => {
    const token = await idToken('kim', 'kim@ex.test')
    const { data } = ok(await newClient().signInWithIdToken({ provider: 'keycloak', token }))
    assert.equal(data.user?.email, 'kim@ex.test')
  })

  await walk('linked identities', async () => {
    const { api } = await member()
    const options = { skipBrowserRedirect: true, redirectTo: site }
    const started = ok(await api.linkIdentity({ provider: 'github', options }))
    const landed = await visit(started.data.url ?? '')
    ok(await api.exchangeCodeForSession(landed.searchParams.get('code') ?? ''))
    const { identities = [] } = ok(await api.getUserIdentities()).data ?? {}
    const added = identities.find(({ provider }) => provider === 'github')
    ok(await api.unlinkIdentity(added ?? assert.fail('it is not listed')))
  })

  await walk('second factor', async () => {
    const { api, email } = await member()
    const enrolled = ok(await api.mfa.enroll({ factorType: 'totp', friendlyName: 'App' }))
    const { id: factorId = '', totp: app } = enrolled.data ?? {}
    const secret = app?.secret ?? ''
    const asked = ok(await api.mfa.challenge({ factorId }))
    const challengeId = asked.data?.id ?? ''
    ok(await api.mfa.verify({ factorId, challengeId, code: totp(secret) }))
    const other = newClient()
    ok(await other.signInWithPassword({ email, password }))
    assert.equal((await other.mfa.getAuthenticatorAssuranceLevel()).data?.nextLevel, 'aal2')
    ok(await other.mfa.challengeAndVerify({ factorId, code: totp(secret, 1) }))
    assert.equal((await other.mfa.listFactors()).data?.totp.length, 1)
    ok(await other.mfa.unenroll({ factorId }))
  })

  await walk('recovery codes', async () => {
    const { api, email } = await member()
    const { id: factorId = '', totp: app } =
      ok(await api.mfa.enroll({ factorType: 'totp' })).data ?? {}
    ok(await api.mfa.challengeAndVerify({ factorId, code: totp(app?.secret ?? '') }))
    ok(await api.mfa.recoveryCodes.generate())
    const { data: made } = ok(await api.mfa.recoveryCodes.regenerate())
    const other = newClient()
    ok(await other.signInWithPassword({ email, password }))
    ok(await other.mfa.recoveryCodes.verify({ code: made?.codes[0] ?? '' }))
    assert.equal(ok(await other.mfa.recoveryCodes.getStatus()).data?.remaining, 9)
    ok(await other.mfa.recoveryCodes.unenroll())
  })

  await walk('passkey', async () => {
    const { api, userId } = await member()
    const device = newDevice()
    const { data: asked } = ok(await api.passkey.startRegistration())
    const { challenge_id: challengeId, options } = asked ?? assert.fail()
    ok(await api.passkey.verifyRegistration({ challengeId, credential: device.create(options) }))
    const other = newClient()
    const { data: question } = ok(await other.passkey.startAuthentication())
    const answer = device.get(question?.options ?? assert.fail())
    const response = { ...answer.response, userHandle: answer.response.userHandle ?? '' }
    const credential = { ...answer, response }
    const signIn = { challengeId: question?.challenge_id ?? '', credential }
    ok(await other.passkey.verifyAuthentication(signIn))
    const passkeyId = (await api.passkey.list()).data?.[0]?.id ?? ''
    ok(await api.passkey.update({ passkeyId, friendlyName: 'Mine' }))
    assert.equal(ok(await admin.passkey.listPasskeys({ userId })).data?.length, 1)
    assert.equal(
      (await admin.passkey.deletePasskey({ userId, passkeyId: userId })).error?.status,
      404,
    )
    ok(await api.passkey.delete({ passkeyId }))
  })

  await walk('admin', async () => {
    const email = newAddress()
    const made = ok(await admin.createUser({ email, password, email_confirm: true }))
    const id = made.data.user?.id ?? ''
    ok(await admin.updateUserById(id, { app_metadata: { plan: 'pro' } }))
    assert.equal((await admin.getUserById(id)).data.user?.app_metadata.plan, 'pro')
    assert.ok(ok(await admin.listUsers({ page: 1, perPage: 5 })).data.users.length > 0)
    ok(await admin.inviteUserByEmail(newAddress(), { redirectTo: site }))
    const link = ok(await admin.generateLink({ type: 'magiclink', email }))
    const token_hash = link.data.properties?.hashed_token ?? ''
    const api = newClient()
    const { data } = ok(await api.verifyOtp({ type: 'magiclink', token_hash }))
    const enrolled = ok(await api.mfa.enroll({ factorType: 'totp' }))
    assert.equal(ok(await admin.mfa.listFactors({ userId: id })).data?.factors.length, 1)
    ok(await admin.mfa.deleteFactor({ userId: id, id: enrolled.data?.id ?? '' }))
    ok(await admin.signOut(data.session?.access_token ?? '', 'global'))
    ok(await admin.deleteUser(id))
  })

  await walk('errors as the client reads them', async () => {
    const api = newClient()
    const wrong = await api.signInWithPassword({ email: newAddress(), password })
    assert.ok(isAuthApiError(wrong.error))
    assert.equal(wrong.error.code, 'invalid_credentials')
    const weak = await api.signUp({ email: newAddress(), password: 'short' })
    assert.equal(weak.error?.name, 'AuthWeakPasswordError')
    assert.equal((await api.getUser('no.token.at-all')).error?.code, 'bad_jwt')
    assert.equal((await api.getUser()).error?.name, 'AuthSessionMissingError')
  })

  await walk('what is not switched on', async () => {
    const { api } = await member()
    const sso = await api.signInWithSSO({ domain: 'ex.test' })
    assert.equal(sso.error?.code, 'saml_provider_disabled')
    for (const part of [api.oauth, admin.oauth, admin.customProviders]) {
      for (const [name, ask] of methodsOf(part)) {
        const answer = await ask(crypto.randomUUID(), {})
        assert.ok(answer.error, name)
      }
    }
  })

  await walk('every documented method', async () => {
    const documented = documentedMethods(newClient(), admin)
    const missed = documented.filter((name) => !called.has(name) && !needsBrowser(name))
    assert.deepEqual(missed, [])
  })
})

function ok<Answer extends { error: unknown }>(answer: Answer): Answer {
  assert.equal(answer.error, null)
  return answer
}
