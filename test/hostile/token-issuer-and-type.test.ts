/**
 * A signature says whose key made a token, not what for: a secret may be shared with another installation, and a
 * key may sign other things than access tokens. So a token that stands for a person is held against `iss`, and
 * every token against `typ` (RFC 8725 §3.8 and §3.11, RFC 9068 §4).
 */
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'

import { decodeJwt, SignJWT } from 'jose'

import { endingOfSuite } from '../support/ending.ts'
import { autoconfirm, newPerson } from '../support/people.ts'
import { type App, build } from '../support/server.ts'

type Claims = Record<string, unknown>

const ours = 'http://auth.example'
const other = 'http://staging.example'
const nil = '00000000-0000-0000-0000-000000000000'
const person = '11111111-1111-4111-8111-111111111111'

suite('the issuer and the type of a token', () => {
  const ending = endingOfSuite()
  let app: App
  let secret: Uint8Array
  let own: Claims
  before(async () => {
    const built = await build(ending, { env: autoconfirm })
    app = built.app
    secret = new TextEncoder().encode(built.config.AUTH_JWT_SECRET)
    own = decodeJwt((await newPerson(app)).access_token)
  })

  const people: [what: string, change: Claims, status: number][] = [
    ['our own', {}, 200],
    ['of another installation', { iss: other }, 403],
    ['of nobody', { iss: undefined }, 403],
    ['of an empty name', { iss: '' }, 403],
    ['of nearly our name', { iss: `${ours}/` }, 403],
    ['of our name in capitals', { iss: ours.toUpperCase() }, 403],
    ['without session, of us', { session_id: undefined }, 200],
    ['without session, of nobody', { session_id: undefined, iss: undefined }, 200],
    ['without session, of another', { session_id: undefined, iss: other }, 403],
    ['with the session that is none, of nobody', { session_id: nil, iss: undefined }, 200],
    ['with the session that is none, of another', { session_id: nil, iss: other }, 403],
  ]
  for (const [what, change, status] of people) {
    test(`a person's token ${what} is answered ${status}`, async () => {
      const claims = { ...own, ...change }
      const tokens = { secret: await hs256(claims), 'own key': await app.jwt.sign(claims) }
      for (const [key, token] of Object.entries(tokens)) {
        assert.equal(await ask('/user', token), status, `signed with the ${key}`)
      }
    })
  }

  test('the same id in capitals is the same person', async () => {
    const claims = { sub: String(own.sub).toUpperCase(), role: 'authenticated', iss: other }
    assert.equal(await ask('/user', await hs256(claims)), 403)
  })

  const services: [what: string, claims: Claims, status: number][] = [
    ['of nobody', {}, 200],
    ['of a Supabase project', { iss: 'supabase', ref: 'abc' }, 200],
    ['of its demo', { iss: 'supabase-demo' }, 200],
    ['of another installation', { iss: other }, 200],
    ['of a service that names itself', { iss: 'billing', sub: 'billing-service' }, 200],
    ['with an empty sub', { iss: 'billing', sub: '' }, 200],
    ['with a person behind it, of us', { iss: ours, sub: person }, 200],
    ['with a person behind it, of another', { iss: other, sub: person }, 403],
    ['with a session, of another', { iss: other, sub: person, session_id: person }, 403],
    ['with a session and no person, of another', { iss: other, session_id: person }, 403],
  ]
  for (const [what, claims, status] of services) {
    test(`a service_role token ${what} is answered ${status}`, async () => {
      const token = await hs256({ role: 'service_role', ...claims })
      assert.equal(await ask('/admin/users', token), status)
    })
  }

  test('what `npm run token` makes passes, with and without a person behind it', async () => {
    for (const sub of [undefined, person]) {
      const options = { role: 'service_role', sub, seconds: 60 }
      const token = await app.jwt.signApiToken(options, new Date())
      assert.equal(await ask('/admin/users', token), 200)
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
    test(`the type ${JSON.stringify(typ)} is answered ${status}`, async () => {
      assert.equal(await ask('/user', await hs256(own, { typ })), status)
      assert.equal(
        await ask('/admin/users', await hs256({ role: 'service_role' }, { typ })),
        status,
      )
    })
  }

  test('a type that is no text is refused', async () => {
    for (const typ of [7, null, ['JWT'], {}]) {
      assert.equal(await ask('/user', await hs256(own, JSON.parse(JSON.stringify({ typ })))), 403)
    }
  })

  test('AUTH_JWT_ISSUER is the name that counts', async (t) => {
    const built = await build(t, { env: { ...autoconfirm, AUTH_JWT_ISSUER: 'people' } })
    app = built.app
    const { access_token } = await newPerson(app)
    assert.equal(await ask('/user', access_token), 200)
    const claims = { ...decodeJwt(access_token), iss: ours }
    assert.equal(await ask('/user', await app.jwt.sign(claims)), 403)
  })

  async function ask(url: string, token: string): Promise<number> {
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
