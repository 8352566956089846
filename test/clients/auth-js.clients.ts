/** @supabase/auth-js: every documented method, in the main flows of a user. */
import assert from 'node:assert/strict'

import { AuthClient, GoTrueAdminApi, isAuthApiError } from '@supabase/auth-js'

import { oauth2Input } from '../support/custom-providers/requests.ts'
import { newDevice } from '../support/factors/passkeys.ts'
import { signedResponse } from '../support/saml/idp.ts'
import { addIdp, post, requestIn } from '../support/saml/server.ts'
import { newAddress, newNumber, password } from '../support/users.ts'
import { injected, phantom } from '../support/web3/browser-wallets.ts'
import { buildMessage, ethereumWallet, solanaWallet } from '../support/web3/wallets.ts'
import { client } from './journeys.ts'
import { memory } from './memory.ts'
import { documentedMethods, listMethods, needsBrowser, recording } from './sdk-methods.ts'
import { site } from './world.ts'

const experimental = { passkey: true, recoveryCodes: true }

client('auth-js', async (world, runJourney, t) => {
  const {
    url,
    serviceKey,
    nextEmail,
    nextCode,
    nextText,
    open,
    fetchRedirect,
    visit,
    idToken,
    totp,
  } = world
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

  async function registeredUser() {
    const [email, api] = [newAddress(), newClient()]
    ok(await api.signUp({ email, password, options: { data: { name: 'Ann' } } }))
    const { code: token } = await nextEmail(email)
    const { data } = ok(await api.verifyOtp({ email, token, type: 'email' }))
    return { email, api, userId: data.user?.id ?? '' }
  }

  await runJourney('sign-up and confirmation', async () => {
    const [email, api] = [newAddress(), newClient()]
    await api.initialize()
    assert.equal(api.isThrowOnErrorEnabled(), false)
    const first = ok(await api.signUp({ email, password, options: { emailRedirectTo: site } }))
    assert.equal(first.data.session, null)
    ok(await api.resend({ type: 'signup', email }))
    await nextEmail(email)
    const redirect = await open((await nextEmail(email)).link)
    const code = redirect.searchParams.get('code') ?? ''
    const { data } = ok(await api.exchangeCodeForSession(code))
    assert.equal(data.user?.email, email)
  })

  await runJourney('password, user, metadata', async () => {
    const { email } = await registeredUser()
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

  await runJourney('refresh and sign-out', async () => {
    const { api } = await registeredUser()
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

  await runJourney('code by email', async () => {
    const [email, api] = [newAddress(), newClient('implicit')]
    ok(await api.signInWithOtp({ email }))
    const { code: token } = await nextEmail(email)
    ok(await api.verifyOtp({ email, token, type: 'email' }))
    ok(await api.reauthenticate())
    const nonce = await nextCode(email)
    ok(await api.updateUser({ password: 'a brand new password', nonce }))
  })

  await runJourney('recovery, new password', async () => {
    const { email } = await registeredUser()
    const api = newClient()
    ok(await api.resetPasswordForEmail(email, { redirectTo: site }))
    const redirect = await open((await nextEmail(email)).link)
    ok(await api.exchangeCodeForSession(redirect.searchParams.get('code') ?? ''))
    ok(await api.updateUser({ password: 'a brand new password' }))
    ok(await newClient().signInWithPassword({ email, password: 'a brand new password' }))
  })

  await runJourney('email change', async () => {
    const { api, email } = await registeredUser()
    const newValue = newAddress('new')
    ok(await api.updateUser({ email: newValue }))
    for (const to of [email, newValue]) await open((await nextEmail(to)).link)
    assert.equal(ok(await api.getUser()).data.user?.email, newValue)
  })

  await runJourney('phone', async () => {
    const [phone, api] = [newNumber(), newClient()]
    ok(await api.signInWithOtp({ phone }))
    const token = await nextText(phone)
    const { data } = ok(await api.verifyOtp({ phone, token, type: 'sms' }))
    assert.equal(data.user?.phone, phone)
  })

  await runJourney('anonymous user', async () => {
    const api = newClient()
    const { data } = ok(await api.signInAnonymously({ options: { data: { a: 1 } } }))
    assert.equal(data.user?.is_anonymous, true)
  })

  await runJourney('external provider', async () => {
    const api = newClient()
    const options = { skipBrowserRedirect: true, redirectTo: site }
    const started = ok(await api.signInWithOAuth({ provider: 'github', options }))
    const redirect = await visit(started.data.url ?? '')
    const code = redirect.searchParams.get('code') ?? ''
    const { data } = ok(await api.exchangeCodeForSession(code))
    assert.equal(data.session?.provider_token, 'at1')
  })

  await runJourney('ID token', async () => {
    const token = await idToken('kim', 'kim@ex.test')
    const { data } = ok(await newClient().signInWithIdToken({ provider: 'keycloak', token }))
    assert.equal(data.user?.email, 'kim@ex.test')
  })

  await runJourney('linked identities', async () => {
    const { api } = await registeredUser()
    const options = { skipBrowserRedirect: true, redirectTo: site }
    const started = ok(await api.linkIdentity({ provider: 'github', options }))
    const redirect = await visit(started.data.url ?? '')
    ok(await api.exchangeCodeForSession(redirect.searchParams.get('code') ?? ''))
    const { identities = [] } = ok(await api.getUserIdentities()).data ?? {}
    const added = identities.find(({ provider }) => provider === 'github')
    ok(await api.unlinkIdentity(added ?? assert.fail('it is not listed')))
  })

  await runJourney('second factor', async () => {
    const { api, email } = await registeredUser()
    const enrolled = ok(await api.mfa.enroll({ factorType: 'totp', friendlyName: 'App' }))
    const { id: factorId = '', totp: app } = enrolled.data ?? {}
    const secret = app?.secret ?? ''
    const requested = ok(await api.mfa.challenge({ factorId }))
    const challengeId = requested.data?.id ?? ''
    ok(await api.mfa.verify({ factorId, challengeId, code: totp(secret) }))
    const other = newClient()
    ok(await other.signInWithPassword({ email, password }))
    assert.equal((await other.mfa.getAuthenticatorAssuranceLevel()).data?.nextLevel, 'aal2')
    ok(await other.mfa.challengeAndVerify({ factorId, code: totp(secret, 1) }))
    assert.equal((await other.mfa.listFactors()).data?.totp.length, 1)
    ok(await other.mfa.unenroll({ factorId }))
  })

  await runJourney('recovery codes', async () => {
    const { api, email } = await registeredUser()
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

  await runJourney('passkey', async () => {
    const { api, userId } = await registeredUser()
    const device = newDevice()
    const { data: requested } = ok(await api.passkey.startRegistration())
    const { challenge_id: challengeId, options } = requested ?? assert.fail()
    ok(await api.passkey.verifyRegistration({ challengeId, credential: device.create(options) }))
    const other = newClient()
    const { data: question } = ok(await other.passkey.startAuthentication())
    const reply = device.get(question?.options ?? assert.fail())
    const response = { ...reply.response, userHandle: reply.response.userHandle ?? '' }
    const credential = { ...reply, response }
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

  await runJourney('admin', async () => {
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

  await runJourney('single sign-on', async () => {
    const { idp, id } = await addIdp(world.app, { domains: ['corp.example'] })
    const api = newClient()
    const options = { redirectTo: `${site}/welcome` }
    const { data } = ok(await api.signInWithSSO({ domain: 'Corp.Example', options }))
    const { request, relayState } = requestIn(data?.url ?? '')
    const requestId = / ID="([^"]+)"/.exec(request)?.[1] ?? ''
    const response = signedResponse({ idp, requestId, base: url })
    const redirect = await post(world.app, response, relayState)
    assert.equal(redirect.location.pathname, '/welcome')
    const session = ok(await api.exchangeCodeForSession(redirect.query.code ?? ''))
    assert.equal(session.data.user?.app_metadata.provider, `sso:${id}`)
    ok(await newClient('implicit').signInWithSSO({ providerId: id }))
    const unknown = await newClient().signInWithSSO({ domain: 'unknown.example' })
    assert.equal(unknown.error?.code, 'sso_provider_not_found')
  })

  await runJourney('custom providers', async () => {
    const { customProviders } = admin
    const input = oauth2Input('https://id.example')
    const created = ok(await customProviders.createProvider({ ...input, provider_type: 'oauth2' }))
    assert.equal(created.data?.identifier, 'custom:plain')
    const shown = ok(await customProviders.getProvider('custom:plain'))
    assert.equal(shown.data?.token_url, input.token_url)
    const listed = ok(await customProviders.listProviders({ type: 'oauth2' }))
    assert.deepEqual(
      listed.data.providers.map(({ id }) => id),
      [created.data?.id],
    )
    const renamed = ok(await customProviders.updateProvider('custom:plain', { name: 'Other' }))
    assert.equal(renamed.data?.name, 'Other')
    const { data } = ok(await newClient().signInWithOAuth({ provider: 'custom:plain' }))
    assert.equal(new URL(await fetchRedirect(data.url ?? '')).host, 'id.example')
    ok(await customProviders.deleteProvider('custom:plain'))
    const gone = await customProviders.getProvider('custom:plain')
    assert.equal(gone.error?.code, 'custom_provider_not_found')
    for (const [name, send] of listMethods(customProviders)) {
      const { error } = await send('unprefixed', { type: 'saml' })
      assert.ok(error || name === 'listProviders', name)
    }
  })

  await runJourney('wallets', async () => {
    const options = { url: 'https://app.example/sign-in' }
    const [ethereum, solana] = [ethereumWallet(), solanaWallet()]
    const signed = { chain: 'ethereum' as const, message: buildMessage(ethereum) }
    const signature = (await ethereum.sign(signed.message)) as `0x${string}`
    const { data } = ok(await newClient().signInWithWeb3({ ...signed, signature }))
    assert.equal(data.user?.app_metadata.provider, 'web3')
    const again = await newClient().signInWithWeb3({ ...signed, signature })
    assert.match(String(again.error?.message), /already used/)
    const byEthereum = { chain: 'ethereum' as const, wallet: injected(ethereum), options }
    const known = ok(await newClient().signInWithWeb3(byEthereum))
    assert.equal(known.data.user?.id, data.user?.id)
    const bySolana = { chain: 'solana' as const, wallet: phantom(solana), options }
    const statement = 'Sign in, please.'
    ok(await newClient().signInWithWeb3({ ...bySolana, statement }))
    const evil = { chain: 'ethereum' as const, wallet: injected(ethereumWallet()) }
    const other = { ...evil, options: { url: 'https://evil.example/' } }
    assert.ok((await newClient().signInWithWeb3(other)).error)
  })

  await runJourney('error codes', async () => {
    const api = newClient()
    const wrong = await api.signInWithPassword({ email: newAddress(), password })
    assert.ok(isAuthApiError(wrong.error))
    assert.equal(wrong.error.code, 'invalid_credentials')
    const weak = await api.signUp({ email: newAddress(), password: 'short' })
    assert.equal(weak.error?.name, 'AuthWeakPasswordError')
    assert.equal((await api.getUser('no.token.at-all')).error?.code, 'bad_jwt')
    assert.equal((await api.getUser()).error?.name, 'AuthSessionMissingError')
  })

  await runJourney('disabled features', async () => {
    const { api } = await registeredUser()
    for (const part of [api.oauth, admin.oauth]) {
      for (const [name, send] of listMethods(part)) {
        const response = await send(crypto.randomUUID(), {})
        assert.ok(response.error, name)
      }
    }
  })

  await runJourney('every documented method', async () => {
    const documented = documentedMethods(newClient(), admin)
    const missed = documented.filter((name) => !called.has(name) && !needsBrowser(name))
    assert.deepEqual(missed, [])
  })
})

function ok<Answer extends { error: unknown }>(response: Answer): Answer {
  assert.equal(response.error, null)
  return response
}
