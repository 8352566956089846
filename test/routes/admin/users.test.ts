import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'

import { hashSync as bcryptHash } from '@node-rs/bcrypt'

import { adminCall, asAdmin } from '../../support/admin.ts'
import { endingOfSuite } from '../../support/processes/ending.ts'
import { type App, build } from '../../support/server.ts'
import { adminCreatedUser, password, signIn } from '../../support/users.ts'

const noUser = '11111111-1111-4111-8111-111111111111'
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

  test('POST creates a user with all fields', async () => {
    const id = crypto.randomUUID()
    const user = await adminCreatedUser(app, {
      id,
      email: ' Ann@Example.com',
      phone: '+1 555 0100',
      password: 'x',
      role: 'editor',
      email_confirm: true,
      phone_confirm: true,
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
    assert.ok(user.phone_confirmed_at)
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

  test('POST uses the id in the path', async () => {
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
    test(`POST accepts a ${name} password hash`, async () => {
      const email = `${name}@example.com`
      await adminCreatedUser(app, { email, email_confirm: true, password_hash: await make() })
      assert.equal((await signIn(app, { email })).statusCode, 200)
      assert.equal((await signIn(app, { email, password: 'another password' })).statusCode, 400)
    })
  }

  test('POST without a password creates a user who cannot sign in by password', async () => {
    await adminCreatedUser(app, { email: 'none@example.com', email_confirm: true })
    assert.equal((await signIn(app, { email: 'none@example.com', password: '' })).statusCode, 400)
    assert.equal((await signIn(app, { email: 'none@example.com' })).statusCode, 400)
  })

  const invalidRecords: [string, object, number, string][] = [
    ['no email and no phone', { password }, 400, 'validation_failed'],
    ['empty email and phone', { email: '', phone: '' }, 400, 'validation_failed'],
    ['malformed email', { email: 'ann' }, 400, 'validation_failed'],
    ['malformed phone', { phone: '+49(30)1' }, 400, 'validation_failed'],
    ['two passwords', { email: 'a@b.co', password, password_hash: 'x' }, 400, 'validation_failed'],
    ['unknown hash', { email: 'a@b.co', password_hash: 'md5' }, 400, 'validation_failed'],
    ['expensive hash', { email: 'a@b.co', password_hash: costly }, 400, 'validation_failed'],
    ['long password', { email: 'a@b.co', password: 'x'.repeat(1025) }, 400, 'validation_failed'],
    ['malformed id', { email: 'a@b.co', id: '7' }, 400, 'validation_failed'],
    ['nil id', { email: 'a@b.co', id: nil }, 400, 'validation_failed'],
    ['ban in months', { email: 'a@b.co', ban_duration: '3mo' }, 400, 'validation_failed'],
    ['ban in words', { email: 'a@b.co', ban_duration: 'forever' }, 400, 'validation_failed'],
    ['metadata that is not an object', { email: 'a@b.co', user_metadata: [] }, 400, 'bad_json'],
    ['long role', { email: 'a@b.co', role: long }, 400, 'validation_failed'],
    ['long audience', { email: 'a@b.co', aud: long }, 400, 'validation_failed'],
    ['long hash', { email: 'a@b.co', password_hash: longHash }, 400, 'validation_failed'],
    ['NUL', { email: 'a@b.co', user_metadata: { a: '\u0000' } }, 400, 'bad_json'],
    ['taken email', { email: 'TAKEN@example.com' }, 422, 'email_exists'],
    ['taken phone', { phone: '+15550199' }, 422, 'phone_exists'],
  ]
  test('POST rejects invalid records and stores nothing', async () => {
    await adminCreatedUser(app, { email: 'taken@example.com', phone: '15550199' })
    const before = await count()
    for (const [name, record, status, code] of invalidRecords) {
      const response = await asAdmin(app, 'POST', '/admin/users', record)
      const got = [response.statusCode, response.json().error_code]
      assert.deepEqual(got, [status, code], `${name}: ${response.body}`)
    }
    assert.equal(await count(), before)
  })

  test('POST creates one user when ten requests race for one email', async () => {
    const record = { email: 'race@example.com' }
    const requests = Array.from({ length: 10 }, () => asAdmin(app, 'POST', '/admin/users', record))
    const codes = (await Promise.all(requests)).map(({ statusCode }) => statusCode)
    assert.deepEqual(codes.sort(), [200, ...Array(9).fill(422)])
  })

  const unknown: [string, number, string][] = [
    ['seven', 404, 'validation_failed'],
    [noUser, 404, 'user_not_found'],
  ]
  for (const method of ['GET', 'PUT', 'DELETE'] as const) {
    test(`${method} rejects malformed and unknown ids`, async () => {
      for (const [id, status, code] of unknown) {
        const payload = method === 'GET' ? undefined : {}
        const response = await asAdmin(app, method, `/admin/users/${id}`, payload)
        assert.deepEqual([response.statusCode, response.json().error_code], [status, code])
      }
    })
  }

  async function count(): Promise<number> {
    const response = await asAdmin(app, 'GET', '/admin/users?per_page=1')
    return Number(response.headers['x-total-count'])
  }
})
