/**
 * A valid signature does not show what a token is for: a secret may be shared with another installation, and a key may
 * sign other tokens. User tokens are checked for `iss`, and all tokens for `typ` (RFC 8725 §3.8 and §3.11, RFC 9068
 * §4).
 */
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'

import { decodeJwt, SignJWT } from 'jose'

import { endingOfSuite } from '../../support/processes/ending.ts'
import { type App, build } from '../../support/server.ts'
import { autoconfirm, newAddress, signUpUser } from '../../support/users.ts'

type Claims = Record<string, unknown>

const ours = 'http://auth.example'
const other = 'http://staging.example'
const nil = '00000000-0000-0000-0000-000000000000'
const user = '11111111-1111-4111-8111-111111111111'

suite('issuer and type of tokens', () => {
  const ending = endingOfSuite()
  let app: App
  let secret: Uint8Array
  let own: Claims
  before(async () => {
    const built = await build(ending, { env: autoconfirm })
    app = built.app
    secret = new TextEncoder().encode(built.config.AUTH_JWT_SECRET)
    own = decodeJwt((await signUpUser(app)).access_token)
  })

  const users: [what: string, change: Claims, status: number][] = [
    ['of this issuer', {}, 200],
    ['of another installation', { iss: other }, 403],
    ['without issuer', { iss: undefined }, 403],
    ['with an empty issuer', { iss: '' }, 403],
    ['with a similar issuer', { iss: `${ours}/` }, 403],
    ['with the issuer in capitals', { iss: ours.toUpperCase() }, 403],
    ['without session, of this issuer', { session_id: undefined }, 200],
    ['without session and issuer', { session_id: undefined, iss: undefined }, 200],
    ['without session, of another installation', { session_id: undefined, iss: other }, 403],
    ['with the nil session, without issuer', { session_id: nil, iss: undefined }, 200],
    ['with the nil session, of another installation', { session_id: nil, iss: other }, 403],
  ]
  for (const [what, change, status] of users) {
    test(`returns ${status} for a user token ${what}`, async () => {
      const claims = { ...own, ...change }
      const tokens = { secret: await hs256(claims), 'own key': await app.jwt.sign(claims) }
      for (const [key, token] of Object.entries(tokens)) {
        assert.equal(await send('/user', token), status, `signed with the ${key}`)
      }
    })
  }

  test('rejects the user id in capitals', async () => {
    const claims = { sub: String(own.sub).toUpperCase(), role: 'authenticated', iss: other }
    assert.equal(await send('/user', await hs256(claims)), 403)
  })

  const services: [what: string, claims: Claims, status: number][] = [
    ['without issuer', {}, 200],
    ['of a Supabase project', { iss: 'supabase', ref: 'abc' }, 200],
    ['of the Supabase demo', { iss: 'supabase-demo' }, 200],
    ['of this issuer', { iss: ours }, 200],
    ['of another installation', { iss: other }, 403],
    ['of another installation, with a service as sub', { iss: other, sub: 'billing' }, 403],
    ['of another installation, with an empty sub', { iss: other, sub: '' }, 403],
    ['of a similar issuer', { iss: `${ours}/` }, 403],
    ['with an empty issuer', { iss: '' }, 403],
    ['of an unlisted service', { iss: 'billing', sub: 'billing-service' }, 403],
    ['with a user, of this issuer', { iss: ours, sub: user }, 200],
    ['with a user, of another installation', { iss: other, sub: user }, 403],
    ['with a session, of another installation', { iss: other, sub: user, session_id: user }, 403],
    ['with a session and no user, of another installation', { iss: other, session_id: user }, 403],
  ]
  for (const [what, claims, status] of services) {
    test(`returns ${status} for a service_role token ${what}`, async () => {
      const token = await hs256({ role: 'service_role', ...claims })
      assert.equal(await send('/admin/users', token), status)
    })
  }

  for (const role of ['supabase_admin', 'platform_admin']) {
    test(`rejects a ${role} token of another installation`, async () => {
      assert.equal(await send('/admin/users', await hs256({ role, iss: other })), 403)
    })
  }

  test('rejects a service_role token of another installation on every endpoint', async () => {
    const authorization = `Bearer ${await hs256({ role: 'service_role', iss: other })}`
    for (const url of ['/invite', '/admin/generate_link', '/admin/users']) {
      const payload = { email: newAddress(), type: 'magiclink' }
      const response = await app.inject({
        method: 'POST',
        url,
        headers: { authorization },
        payload,
      })
      assert.equal(response.statusCode, 403, url)
    }
  })

  test('accepts an anon token of any issuer, which has no rights', async () => {
    const response = await app.inject({
      url: '/settings',
      headers: { authorization: `Bearer ${await hs256({ role: 'anon', iss: other })}` },
    })
    assert.equal(response.statusCode, 200)
  })

  test('AUTH_JWT_SERVICE_ISSUERS lists the issuers of services', async (t) => {
    const built = await build(t, { env: { AUTH_JWT_SERVICE_ISSUERS: 'billing' } })
    const send = async (iss: string) => {
      const authorization = `Bearer ${await hs256({ role: 'service_role', iss, sub: 'billing' })}`
      const response = await built.app.inject({ url: '/admin/users', headers: { authorization } })
      return response.statusCode
    }
    assert.deepEqual([await send('billing'), await send('supabase')], [200, 403])
  })

  test('accepts tokens of `npm run token` with and without a user', async () => {
    for (const sub of [undefined, user]) {
      const options = { role: 'service_role', sub, seconds: 60 }
      const token = await app.jwt.signApiToken(options, new Date())
      assert.equal(await send('/admin/users', token), 200)
    }
  })

  const access = [undefined, 'JWT', 'jwt', 'at+jwt', 'AT+JWT', 'application/at+jwt']
  const notAccess = [
    '',
    'id+jwt',
    'dpop+jwt',
    'logout+jwt',
    'secevent+jwt',
    'JOSE',
    'jwt ',
    'x/jwt',
  ]
  for (const typ of [...access, ...notAccess]) {
    const status = access.includes(typ) ? 200 : 403
    test(`returns ${status} for the type ${JSON.stringify(typ)}`, async () => {
      assert.equal(await send('/user', await hs256(own, { typ })), status)
      assert.equal(
        await send('/admin/users', await hs256({ role: 'service_role' }, { typ })),
        status,
      )
    })
  }

  test('rejects a type that is not a string', async () => {
    for (const typ of [7, null, ['JWT'], {}]) {
      assert.equal(await send('/user', await hs256(own, JSON.parse(JSON.stringify({ typ })))), 403)
    }
  })

  test('AUTH_JWT_ISSUER sets the accepted issuer', async (t) => {
    const built = await build(t, { env: { ...autoconfirm, AUTH_JWT_ISSUER: 'members' } })
    app = built.app
    const { access_token } = await signUpUser(app)
    assert.equal(await send('/user', access_token), 200)
    const claims = { ...decodeJwt(access_token), iss: ours }
    assert.equal(await send('/user', await app.jwt.sign(claims)), 403)
  })

  async function send(url: string, token: string): Promise<number> {
    const response = await app.inject({ url, headers: { authorization: `Bearer ${token}` } })
    if (response.statusCode === 403) assert.equal(response.json().error_code, 'bad_jwt')
    return response.statusCode
  }

  function hs256(claims: Claims, header: object = {}): Promise<string> {
    const exp = Math.floor(Date.now() / 1000) + 60
    return new SignJWT({ ...claims, exp })
      .setProtectedHeader({ alg: 'HS256', ...header })
      .sign(secret)
  }
})
