/** Clients whose languages are not installed here: their requests, and the response fields they require. */
import assert from 'node:assert/strict'

import { pkcePair } from '../support/messages/mail-journeys.ts'
import { newAddress, newNumber, password } from '../support/users.ts'
import { type Dialect, dart, type Fields, swift } from './dialects.ts'
import { client, type RunJourney } from './journeys.ts'
import { site, type World } from './world.ts'

client('dart (replayed)', (world, runJourney) => replay(world, runJourney, dart))
client('swift (replayed)', (world, runJourney) => replay(world, runJourney, swift))

interface Responded extends Fields {
  access_token: string
  refresh_token: string
  id: string
  url: string
  user: { id: string; email: string; phone: string; is_anonymous: boolean; identities: Fields[] }
}

async function replay(world: World, runJourney: RunJourney, dialect: Dialect) {
  const { url, anonKey, serviceKey, nextEmail, nextCode, nextText, open, visit, idToken, totp } =
    world

  async function send(method: string, path: string, fields?: Fields, token = anonKey) {
    const body = method === 'GET' ? undefined : (fields ?? dialect.emptyBody)
    const response = await fetch(`${url}/auth/v1${path}`, {
      method,
      headers: {
        ...dialect.headers,
        apikey: anonKey,
        authorization: `Bearer ${token}`,
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, json: text === '' ? {} : JSON.parse(text) }
  }

  async function ok(...request: Parameters<typeof send>): Promise<Responded> {
    const { status, json } = await send(...request)
    assert.ok(status < 300, `${request.slice(0, 2).join(' ')}: ${status} ${JSON.stringify(json)}`)
    return json
  }

  async function session(...request: Parameters<typeof send>) {
    return readSession(await ok(...request))
  }

  const grant = (type: string) => `/token?grant_type=${type}`
  const signIn = (email: string, secret = password) =>
    session('POST', grant('password'), { email, password: secret })

  async function verify(fields: Fields) {
    return session('POST', '/verify', dialect.verification(fields))
  }

  async function registeredUser() {
    const email = newAddress()
    const fields = dialect.withChallenge({ email, password, data: { name: 'Ann' } }, undefined)
    readUser(await ok('POST', '/signup', fields))
    const { code: token } = await nextEmail(email)
    return { email, ...(await verify({ email, token, type: 'signup' })) }
  }

  /** A link that ends at the app with a code. */
  async function exchange(redirect: URL, verifier: string) {
    const fields = { auth_code: redirect.searchParams.get('code'), code_verifier: verifier }
    return session('POST', grant('pkce'), fields)
  }

  function authorizeQuery(challenge: string, more: Record<string, string> = {}) {
    return new URLSearchParams({
      provider: 'github',
      redirect_to: site,
      ...dialect.authorizeParams,
      ...more,
      code_challenge: challenge,
      code_challenge_method: 's256',
    })
  }

  await runJourney('sign-up and confirmation', async () => {
    const email = newAddress()
    const { verifier, fields } = pkcePair()
    const signUp = dialect.withChallenge({ email, password }, fields.code_challenge)
    await ok('POST', `/signup?redirect_to=${encodeURIComponent(site)}`, signUp)
    const redirect = await open((await nextEmail(email)).link)
    assert.equal((await exchange(redirect, verifier)).user.email, email)
  })

  await runJourney('password, user, metadata', async () => {
    const { email } = await registeredUser()
    const { access_token } = await signIn(email)
    readUser(await ok('PUT', '/user', { data: { likes: 'tea' } }, access_token))
    const user = await ok('GET', '/user', undefined, access_token)
    assert.deepEqual(Object(user.user_metadata).likes, 'tea')
  })

  await runJourney('refresh and sign-out', async () => {
    const { refresh_token } = await registeredUser()
    const newer = await session('POST', grant('refresh_token'), { refresh_token })
    await ok('POST', '/logout?scope=local', undefined, newer.access_token)
    const last = { refresh_token: newer.refresh_token }
    const { status, json } = await send('POST', grant('refresh_token'), last)
    assert.deepEqual([status, json.code], [400, 'refresh_token_not_found'])
  })

  await runJourney('code by email', async () => {
    const email = newAddress()
    await ok('POST', '/otp', dialect.withChallenge({ email, create_user: true }, undefined))
    const { code: token } = await nextEmail(email)
    const { access_token } = await verify({ email, token, type: 'email' })
    await ok('GET', '/reauthenticate', undefined, access_token)
    const nonce = await nextCode(email)
    await ok('PUT', '/user', { password: 'a brand new password', nonce }, access_token)
  })

  await runJourney('recovery, new password', async () => {
    const { email } = await registeredUser()
    const { verifier, fields } = pkcePair()
    const query = `redirect_to=${encodeURIComponent(site)}`
    const recover = dialect.withChallenge({ email }, fields.code_challenge)
    await ok('POST', `/recover?${query}`, recover)
    const redirect = await open((await nextEmail(email)).link)
    const { access_token } = await exchange(redirect, verifier)
    await ok('PUT', '/user', { password: 'a brand new password' }, access_token)
    await signIn(email, 'a brand new password')
  })

  await runJourney('email change', async () => {
    const { email, access_token } = await registeredUser()
    const newValue = newAddress('new')
    await ok('PUT', '/user', { email: newValue }, access_token)
    for (const to of [email, newValue]) await open((await nextEmail(to)).link)
    assert.equal((await ok('GET', '/user', undefined, access_token)).email, newValue)
  })

  await runJourney('phone', async () => {
    const phone = newNumber()
    const fields = { phone, create_user: true, channel: 'sms' }
    await ok('POST', '/otp', dialect.withChallenge(fields, undefined))
    const token = await nextText(phone)
    assert.equal((await verify({ phone, token, type: 'sms' })).user.phone, phone)
  })

  await runJourney('anonymous user', async () => {
    const guest = await session('POST', '/signup', dialect.withChallenge({}, undefined))
    assert.equal(guest.user.is_anonymous, true)
  })

  await runJourney('external provider', async () => {
    const { verifier, fields } = pkcePair()
    const query = authorizeQuery(fields.code_challenge)
    await exchange(await visit(`${url}/auth/v1/authorize?${query}`), verifier)
  })

  await runJourney('ID token', async () => {
    const token = await idToken('kim', 'kim@ex.test')
    const fields = { provider: 'keycloak', id_token: token }
    const { data: _, ...written } = dialect.withChallenge(fields, undefined)
    await session('POST', grant('id_token'), written)
  })

  await runJourney('linked identities', async () => {
    const { access_token } = await registeredUser()
    const { verifier, fields } = pkcePair()
    const query = authorizeQuery(fields.code_challenge, { skip_http_redirect: 'true' })
    const { url: there } = await ok(
      'GET',
      `/user/identities/authorize?${query}`,
      undefined,
      access_token,
    )
    const linked = await exchange(await visit(there), verifier)
    const added = linked.user.identities.find(({ provider }) => provider === 'github')
    const path = `/user/identities/${dialect.id(String(added?.identity_id))}`
    await ok('DELETE', path, undefined, linked.access_token)
  })

  await runJourney('second factor', async () => {
    const { access_token: token } = await registeredUser()
    const fields = { factor_type: 'totp', friendly_name: 'App' }
    const { id, totp: app } = await ok('POST', '/factors', fields, token)
    const challenge = await ok('POST', `/factors/${id}/challenge`, undefined, token)
    assert.equal(typeof challenge.expires_at, 'number')
    const verification = { challenge_id: challenge.id, code: totp(String(Object(app).secret)) }
    const steppedUp = await session('POST', `/factors/${id}/verify`, verification, token)
    await ok('DELETE', `/factors/${id}`, undefined, steppedUp.access_token)
  })

  await runJourney('admin', async () => {
    const fields = { email: newAddress(), password, email_confirm: true }
    const { id } = readUser(await ok('POST', '/admin/users', fields, serviceKey))
    const path = `/admin/users/${dialect.id(id)}`
    readUser(await ok('GET', path, undefined, serviceKey))
    readUser(await ok('PUT', path, { user_metadata: { a: 1 } }, serviceKey))
    await ok('DELETE', path, { should_soft_delete: false }, serviceKey)
  })

  await runJourney('error codes', async () => {
    const wrong = await send('POST', grant('password'), { email: newAddress(), password })
    assert.deepEqual([wrong.status, wrong.json.code], [400, 'invalid_credentials'])
    assert.equal(typeof wrong.json.message, 'string')
    const weak = await send('POST', '/signup', { email: newAddress(), password: 'short' })
    assert.deepEqual(
      [weak.json.code, weak.json.weak_password.reasons],
      ['weak_password', ['length']],
    )
  })
}

/** Required by both clients. */
function readSession(json: Responded) {
  for (const name of ['access_token', 'refresh_token', 'token_type']) {
    assert.equal(typeof json[name], 'string', name)
  }
  for (const name of ['expires_in', 'expires_at']) assert.equal(typeof json[name], 'number', name)
  readUser({ ...json.user, url: '', user: json.user, access_token: '', refresh_token: '' })
  return json
}

function readUser(user: Responded): Responded {
  for (const name of ['id', 'aud', 'created_at', 'updated_at']) {
    assert.equal(typeof user[name], 'string', name)
  }
  for (const name of ['app_metadata', 'user_metadata']) {
    assert.equal(typeof user[name], 'object', name)
  }
  assert.match(String(user.created_at), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z$/)
  return user
}
