import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'

import { hashSync as bcryptHash } from '@node-rs/bcrypt'

import { insertIdentity } from '../../../db/identities.ts'
import type { User } from '../../../schemas/user.ts'
import { adminCall, asAdmin } from '../../support/admin.ts'
import { endingOfSuite } from '../../support/ending.ts'
import { adminToken, createdPerson, password, signedIn, signIn } from '../../support/people.ts'
import { getUser, outcomeOf, refresh } from '../../support/requests.ts'
import { type App, build } from '../../support/server.ts'

const nobody = '11111111-1111-4111-8111-111111111111'
const unverified = { email_verified: false, phone_verified: false }
const nil = '00000000-0000-0000-0000-000000000000'
const long = 'x'.repeat(256)
const longHash = `$argon2id$v=19$m=8,t=1,p=1$${'a'.repeat(300)}$${'b'.repeat(43)}`
const costly = `$2b$31$${'a'.repeat(53)}`

suite('/admin/users', () => {
  const ending = endingOfSuite()
  let app: App
  before(async () => {
    app = (await build(ending)).app
  })

  test('POST creates a person with every field', async () => {
    const id = crypto.randomUUID()
    const user = await create({
      id,
      email: ' Ann@Example.com',
      phone: '+1 555 0100',
      password: 'x',
      role: 'editor',
      email_confirm: true,
      user_metadata: { full_name: 'Ann', nothing: null },
      app_metadata: { plan: 'gold', gone: null },
      ban_duration: '1h30m',
    })

    assert.equal(user.id, id)
    assert.equal(user.aud, 'authenticated')
    assert.equal(user.role, 'editor')
    assert.equal(user.email, 'ann@example.com')
    assert.equal(user.phone, '15550100')
    assert.ok(user.email_confirmed_at)
    assert.equal(user.phone_confirmed_at, undefined)
    assert.deepEqual(user.user_metadata, {
      full_name: 'Ann',
      nothing: null,
      email_verified: true,
    })
    const providers = { provider: 'email', providers: ['email', 'phone'] }
    assert.deepEqual(user.app_metadata, { ...providers, plan: 'gold' })
    assert.deepEqual(
      user.identities?.map(({ provider, id, identity_data }) => [provider, id, identity_data]),
      [
        ['email', id, { sub: id, email: 'ann@example.com', ...unverified }],
        ['phone', id, { sub: id, phone: '15550100', ...unverified }],
      ],
    )
    const bannedFor = Date.parse(user.banned_until ?? '') - Date.parse(user.created_at)
    assert.equal(bannedFor, 90 * 60_000)
    assert.deepEqual(await adminCall(app, 'GET', `/admin/users/${id}`), user)
  })

  test('POST with an id in the path creates that id', async () => {
    const id = crypto.randomUUID()
    const user = await adminCall(app, 'POST', `/admin/users/${id}`, { email: 'path@example.com' })
    assert.equal(user.id, id)
    const again = await asAdmin(app, 'POST', `/admin/users/${id}`, { email: 'else@example.com' })
    assert.equal(again.statusCode, 422)
    assert.equal(again.json().error_code, 'user_already_exists')
  })

  const hashes: [string, () => Promise<string>][] = [
    ['bcrypt', async () => bcryptHash(password, 4)],
    ['argon2id', () => app.passwords.hash(password)],
  ]
  for (const [name, make] of hashes) {
    test(`a ${name} hash signs in with its password`, async () => {
      const email = `${name}@example.com`
      await create({ email, email_confirm: true, password_hash: await make() })
      assert.equal((await signIn(app, { email })).statusCode, 200)
      assert.equal((await signIn(app, { email, password: 'another password' })).statusCode, 400)
    })
  }

  test('without a password nobody signs in', async () => {
    await create({ email: 'none@example.com', email_confirm: true })
    assert.equal((await signIn(app, { email: 'none@example.com', password: '' })).statusCode, 400)
    assert.equal((await signIn(app, { email: 'none@example.com' })).statusCode, 400)
  })

  const refusedRecords: [string, object, number, string][] = [
    ['no address', { password }, 400, 'validation_failed'],
    ['empty addresses', { email: '', phone: '' }, 400, 'validation_failed'],
    ['malformed email', { email: 'ann' }, 400, 'validation_failed'],
    ['malformed phone', { phone: '+49(30)1' }, 400, 'validation_failed'],
    ['two passwords', { email: 'a@b.co', password, password_hash: 'x' }, 400, 'validation_failed'],
    ['unknown hash', { email: 'a@b.co', password_hash: 'md5' }, 400, 'validation_failed'],
    ['costly hash', { email: 'a@b.co', password_hash: costly }, 400, 'validation_failed'],
    ['long password', { email: 'a@b.co', password: 'x'.repeat(1025) }, 400, 'validation_failed'],
    ['id of no UUID', { email: 'a@b.co', id: '7' }, 400, 'validation_failed'],
    ['nil id', { email: 'a@b.co', id: nil }, 400, 'validation_failed'],
    ['ban in months', { email: 'a@b.co', ban_duration: '3mo' }, 400, 'validation_failed'],
    ['ban in words', { email: 'a@b.co', ban_duration: 'forever' }, 400, 'validation_failed'],
    ['metadata of no object', { email: 'a@b.co', user_metadata: [] }, 400, 'bad_json'],
    ['long role', { email: 'a@b.co', role: long }, 400, 'validation_failed'],
    ['long audience', { email: 'a@b.co', aud: long }, 400, 'validation_failed'],
    ['long hash', { email: 'a@b.co', password_hash: longHash }, 400, 'validation_failed'],
    ['NUL', { email: 'a@b.co', user_metadata: { a: '\u0000' } }, 400, 'bad_json'],
    ['taken email', { email: 'TAKEN@example.com' }, 422, 'email_exists'],
    ['taken phone', { phone: '+15550199' }, 422, 'phone_exists'],
  ]
  test('wrong records are refused and store nothing', async () => {
    await create({ email: 'taken@example.com', phone: '15550199' })
    const before = await count()
    for (const [name, record, status, code] of refusedRecords) {
      const response = await asAdmin(app, 'POST', '/admin/users', record)
      const got = [response.statusCode, response.json().error_code]
      assert.deepEqual(got, [status, code], `${name}: ${response.body}`)
    }
    assert.equal(await count(), before)
  })

  test('of ten racing requests for one address one wins', async () => {
    const record = { email: 'race@example.com' }
    const requests = Array.from({ length: 10 }, () => asAdmin(app, 'POST', '/admin/users', record))
    const codes = (await Promise.all(requests)).map(({ statusCode }) => statusCode)
    assert.deepEqual(codes.sort(), [200, ...Array(9).fill(422)])
  })

  const unknown: [string, number, string][] = [
    ['seven', 404, 'validation_failed'],
    [nobody, 404, 'user_not_found'],
  ]
  for (const method of ['GET', 'PUT', 'DELETE'] as const) {
    test(`${method} of an id that is none, or nobody's`, async () => {
      for (const [id, status, code] of unknown) {
        const payload = method === 'GET' ? undefined : {}
        const response = await asAdmin(app, method, `/admin/users/${id}`, payload)
        assert.deepEqual([response.statusCode, response.json().error_code], [status, code])
      }
    })
  }

  suite('PUT', () => {
    const changes: [string, object, (user: User, before: User) => void][] = [
      ['role', { role: ' editor ' }, ({ role }) => assert.equal(role, 'editor')],
      [
        'email, unconfirmed',
        { email: 'New-1@example.com' },
        (user, before) => {
          assert.equal(user.email, 'new-1@example.com')
          assert.equal(user.email_confirmed_at, before.email_confirmed_at)
          assert.equal(user.identities?.[0]?.identity_data?.email, 'new-1@example.com')
          assert.equal(user.identities?.[0]?.identity_data?.email_verified, false)
        },
      ],
      [
        'email, confirmed',
        { email: 'new-2@example.com', email_confirm: true },
        (user) => {
          assert.ok(user.email_confirmed_at)
          assert.equal(user.identities?.[0]?.identity_data?.email_verified, true)
          assert.equal(user.user_metadata.email_verified, true)
        },
      ],
      [
        'phone',
        { phone: '+15550111', phone_confirm: true },
        (user) => {
          assert.equal(user.phone, '15550111')
          assert.ok(user.phone_confirmed_at)
          assert.deepEqual(user.app_metadata.providers, ['email', 'phone'])
          const identity = user.identities?.find(({ provider }) => provider === 'phone')
          const phone = '15550111'
          const verified = { email_verified: false, phone_verified: true }
          assert.deepEqual(identity?.identity_data, { sub: user.id, phone, ...verified })
        },
      ],
      [
        'user_metadata',
        { user_metadata: { a: 2, b: null, deep: { c: null } } },
        (user) => assert.deepEqual(user.user_metadata, { a: 2, deep: { c: null } }),
      ],
      [
        'app_metadata',
        { app_metadata: { plan: 'gold' } },
        (user) => {
          assert.deepEqual(user.app_metadata, {
            provider: 'email',
            providers: ['email'],
            plan: 'gold',
          })
        },
      ],
      ['ban', { ban_duration: '24h' }, (user) => assert.ok(user.banned_until)],
      [
        'nothing',
        { role: '', email: '', phone: '', password: '', email_confirm: false, ban_duration: '' },
        (user, before) => {
          assert.deepEqual({ ...user, updated_at: '' }, { ...before, updated_at: '' })
        },
      ],
    ]
    for (const [name, change, check] of changes) {
      test(`changes ${name}`, async () => {
        const email = `${crypto.randomUUID()}@example.com`
        const before = await create({ email, user_metadata: { a: 1, b: 2 } })
        const changed = await adminCall(app, 'PUT', `/admin/users/${before.id}`, change)
        check(changed, before)
        assert.deepEqual(await adminCall(app, 'GET', `/admin/users/${before.id}`), changed)
      })
    }

    for (const end of ['none', '0']) {
      test(`ban_duration ${end} ends a ban`, async () => {
        const email = `${crypto.randomUUID()}@example.com`
        const banned = await create({ email, ban_duration: '24h' })
        assert.ok(banned.banned_until)
        const url = `/admin/users/${banned.id}`
        const changed = await adminCall(app, 'PUT', url, { ban_duration: end })
        assert.equal(changed.banned_until, undefined)
      })
    }

    test('a taken address is refused in a sentence', async () => {
      const { id } = await create({ email: 'mover@example.com' })
      const owner = await create({ email: 'owner@example.com', phone: '15550122' })
      const url = `/admin/users/${id}`
      const byEmail = await asAdmin(app, 'PUT', url, { email: 'owner@example.com' })
      const claims = { sub: '1', email: 'proven@example.com', email_verified: true }
      const identity = { provider: 'github', provider_id: '1', identity_data: claims }
      await insertIdentity(app.db, { user_id: owner.id, ...identity }, new Date())
      const byProvider = await asAdmin(app, 'PUT', url, { email: claims.email })
      assert.deepEqual(outcomeOf(byProvider), [422, 'email_exists'])
      const byPhone = await asAdmin(app, 'PUT', url, { phone: '15550122' })
      assert.deepEqual([byEmail.statusCode, byEmail.json().error_code], [422, 'email_exists'])
      assert.deepEqual([byPhone.statusCode, byPhone.json().error_code], [422, 'phone_exists'])
    })

    test('racing for one address ends in one owner and no server fault', async () => {
      const people = await Promise.all(
        Array.from({ length: 5 }, (_, i) => create({ email: `racer-${i}@example.com` })),
      )
      const answers = await Promise.all(
        people.map(({ id }) =>
          asAdmin(app, 'PUT', `/admin/users/${id}`, { email: 'prize@example.com' }),
        ),
      )
      const codes = answers.map(({ statusCode }) => statusCode)
      assert.deepEqual(codes.sort(), [200, 422, 422, 422, 422])
    })

    test('a weak password is refused, a good one ends every session', async () => {
      const { id, session } = await entered('sessions@example.com')
      const weak = await asAdmin(app, 'PUT', `/admin/users/${id}`, { password: 'abc' })
      assert.equal(weak.json().error_code, 'weak_password')
      assert.equal((await refresh(app, session.refresh_token)).statusCode, 200)

      await adminCall(app, 'PUT', `/admin/users/${id}`, { password: 'another good one' })

      assert.equal((await getUser(app, session)).json().error_code, 'session_not_found')
      assert.equal((await signIn(app, { email: 'sessions@example.com' })).statusCode, 400)
      assert.equal(
        (await signIn(app, { email: 'sessions@example.com', password: 'another good one' }))
          .statusCode,
        200,
      )
    })

    test('a ban ends refreshing and our own endpoints at once, and its end restores both', async () => {
      const { id, session } = await entered('banned@example.com')
      await adminCall(app, 'PUT', `/admin/users/${id}`, { ban_duration: '1h' })

      assert.equal((await getUser(app, session)).json().error_code, 'user_banned')
      assert.equal((await refresh(app, session.refresh_token)).json().error_code, 'user_banned')
      const right = await signIn(app, { email: 'banned@example.com' })
      assert.equal(right.json().error_code, 'user_banned')
      const wrong = await signIn(app, { email: 'banned@example.com', password: 'not the password' })
      assert.equal(wrong.json().error_code, 'invalid_credentials')

      await adminCall(app, 'PUT', `/admin/users/${id}`, { ban_duration: 'none' })
      assert.equal((await getUser(app, session)).statusCode, 200)
      assert.equal((await refresh(app, session.refresh_token)).statusCode, 200)
    })
  })

  suite('DELETE', () => {
    test('hard: nothing is left, and the address is free', async () => {
      const { id, session } = await entered('hard@example.com')
      const response = await asAdmin(app, 'DELETE', `/admin/users/${id}`)
      assert.equal(response.statusCode, 200)
      assert.deepEqual(response.json(), {})
      assert.equal((await asAdmin(app, 'GET', `/admin/users/${id}`)).statusCode, 404)
      assert.equal((await getUser(app, session)).json().error_code, 'user_not_found')
      await create({ email: 'hard@example.com' })
    })

    test('a content type without a body is no mistake, as SDKs send it', async () => {
      const { id } = await create({ email: 'typed@example.com' })
      const authorization = `Bearer ${await adminToken(app)}`
      const headers = { authorization, 'content-type': 'application/json' }
      const url = `/admin/users/${id}`
      assert.equal((await app.inject({ method: 'DELETE', url, headers })).statusCode, 200)
    })

    test('soft: the row stays and tells nothing', async () => {
      const { id, session } = await entered('soft@example.com', { phone: '15550133' })
      await adminCall(app, 'DELETE', `/admin/users/${id}`, { should_soft_delete: true })

      const user = await adminCall(app, 'GET', `/admin/users/${id}`)
      assert.ok(user.deleted_at)
      assert.match(user.email, /^[\w-]{43}$/)
      assert.match(user.phone, /^[\w-]{15}$/)
      assert.deepEqual([user.app_metadata, user.user_metadata], [{}, {}])
      for (const identity of user.identities ?? []) {
        assert.match(identity.id, /^[\w-]{43}$/)
        assert.deepEqual(identity.identity_data, {})
      }
      assert.ok(!JSON.stringify(user).includes('soft@example.com'))
      assert.notEqual((await getUser(app, session)).statusCode, 200)
      assert.notEqual((await refresh(app, session.refresh_token)).statusCode, 200)

      await adminCall(app, 'DELETE', `/admin/users/${id}`, { should_soft_delete: true })
      assert.deepEqual(await adminCall(app, 'GET', `/admin/users/${id}`), user)
      await create({ email: 'soft@example.com', phone: '15550133' })
    })

    test('soft: nothing is left by which somebody came in, or was written to', async () => {
      const { id } = await create({ email: 'gone@example.com', email_confirm: true })
      const link = { type: 'recovery', email: 'gone@example.com' }
      assert.equal((await asAdmin(app, 'POST', '/admin/generate_link', link)).statusCode, 200)
      await app.pool.query(
        `insert into auth.postern_recovery_codes (user_id, code_hash, created_at) values ($1, 'x', now())`,
        [id],
      )
      await app.pool.query(
        `insert into auth.webauthn_credentials (user_id, credential_id, public_key) values ($1, '\\x01', '\\x02')`,
        [id],
      )
      await adminCall(app, 'DELETE', `/admin/users/${id}`, { should_soft_delete: true })
      for (const table of ['one_time_tokens', 'postern_recovery_codes', 'webauthn_credentials']) {
        const { rows } = await app.pool.query(`select from auth.${table} where user_id = $1`, [id])
        assert.equal(rows.length, 0, table)
      }
    })

    test('soft: a token without a session, which outlives sign-outs, is of nobody', async () => {
      const { id } = await create({ email: 'once@example.com' })
      const iat = Math.floor(Date.now() / 1000)
      const access_token = await app.jwt.sign({ iss: app.jwt.issuer, sub: id, exp: iat + 60 })
      assert.equal((await getUser(app, { access_token })).statusCode, 200)

      await adminCall(app, 'DELETE', `/admin/users/${id}`, { should_soft_delete: true })

      const after = await getUser(app, { access_token })
      assert.deepEqual(outcomeOf(after), [403, 'user_not_found'])
    })
  })

  function create(record: object): Promise<User> {
    return createdPerson(app, record)
  }

  async function count(): Promise<number> {
    const response = await asAdmin(app, 'GET', '/admin/users?per_page=1')
    return Number(response.headers['x-total-count'])
  }

  async function entered(email: string, more: object = {}) {
    const { id } = await create({ email, password, email_confirm: true, ...more })
    return { id, session: await signedIn(app, email) }
  }
})
