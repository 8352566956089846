/** The admin API of the published client SDK, method by method, over HTTP. */
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'

import {
  AuthClient,
  type GenerateLinkParams,
  GoTrueAdminApi,
  isAuthSessionMissingError,
  type User,
} from '@supabase/auth-js'

import { linkIn } from '../support/messages/mail-links.ts'
import type { MailServer } from '../support/messages/mail-server.ts'
import { endingOfSuite } from '../support/processes/ending.ts'
import { type App, build } from '../support/server.ts'
import { adminToken } from '../support/users.ts'

const password = 'correct horse battery'

suite('admin API by SDK', () => {
  const ending = endingOfSuite()
  let app: App
  let mail: MailServer
  let url: string
  let admin: GoTrueAdminApi
  before(async () => {
    const built = await build(ending)
    app = built.app
    mail = built.mail
    url = await app.listen({ host: '127.0.0.1', port: 0 })
    const headers = { Authorization: `Bearer ${await adminToken(app)}` }
    admin = new GoTrueAdminApi({ url, headers })
  })

  test('createUser, getUserById', async () => {
    const created = await admin.createUser({
      email: 'ann@example.com',
      phone: '+15550100',
      password,
      email_confirm: true,
      phone_confirm: true,
      user_metadata: { name: 'Ann' },
      app_metadata: { plan: 'gold' },
      role: 'editor',
      ban_duration: 'none',
    })
    assert.equal(created.error, null)
    const user = created.data.user
    assert.equal(user?.role, 'editor')
    const found = await admin.getUserById(user?.id ?? '')
    assert.deepEqual(found.data.user, user)
    const again = await admin.createUser({ email: 'ann@example.com' })
    assert.equal(again.error?.code, 'email_exists')
    const unknown = await admin.getUserById(crypto.randomUUID())
    assert.equal(unknown.error?.code, 'user_not_found')
  })

  test('listUsers pages through ten pages', async () => {
    for (let i = 0; i < 30; i++) await create(`listed-${i}@example.com`)
    const seen = new Set<string>()
    for (let page = 1; page <= 11; page++) {
      const { data, error } = await admin.listUsers({ page, perPage: 3 })
      assert.equal(error, null)
      for (const { id } of data.users) seen.add(id)
      if (!('total' in data)) assert.fail('the SDK found no headers')
      assert.equal(data.total, seen.size < 33 ? data.total : seen.size)
      // The SDK reads one digit of a page number.
      if (page < 9) assert.equal(data.nextPage, page + 1)
      assert.ok(data.lastPage > 0)
    }
    const allUsers = await admin.listUsers({ page: 1, perPage: 1000 })
    assert.equal(allUsers.data.users.length, seen.size)
    assert.equal((await admin.listUsers()).data.users.length, seen.size)
  })

  const updates: [
    string,
    Parameters<GoTrueAdminApi['updateUserById']>[1],
    (user: User) => unknown,
  ][] = [
    ['email', { email: 'moved@example.com' }, ({ email }) => email === 'moved@example.com'],
    ['email_confirm', { email_confirm: true }, (user) => user.email_confirmed_at],
    ['phone', { phone: '+15550177' }, ({ phone }) => phone === '15550177'],
    ['phone_confirm', { phone: '+15550178', phone_confirm: true }, (u) => u.phone_confirmed_at],
    ['role', { role: 'editor' }, ({ role }) => role === 'editor'],
    ['user_metadata', { user_metadata: { a: 1 } }, (user) => user.user_metadata.a === 1],
    ['app_metadata', { app_metadata: { b: 2 } }, (user) => user.app_metadata.b === 2],
    ['ban_duration', { ban_duration: '100h' }, (user) => 'banned_until' in user],
  ]
  for (const [field, change, isDone] of updates) {
    test(`updateUserById: ${field}`, async () => {
      const { id } = await create(`${field}@example.com`)
      const { data, error } = await admin.updateUserById(id, change)
      assert.equal(error, null)
      assert.ok(data.user && isDone(data.user))
      const found = await admin.getUserById(id)
      assert.deepEqual(found.data.user, data.user)
    })
  }

  test('updateUserById: password', async () => {
    const { id } = await create('password@example.com', { email_confirm: true })
    assert.equal((await admin.updateUserById(id, { password })).error, null)
    const signedIn = await client().signInWithPassword({ email: 'password@example.com', password })
    assert.equal(signedIn.error, null)
  })

  for (const soft of [false, true]) {
    test(`deleteUser, ${soft ? 'soft' : 'hard'}`, async () => {
      const email = `deleted-${soft}@example.com`
      const { id } = await create(email)
      assert.equal((await admin.deleteUser(id, soft)).error, null)
      const { data, error } = await admin.getUserById(id)
      if (soft) assert.ok(data.user && 'deleted_at' in data.user && data.user.email !== email)
      else assert.equal(error?.code, 'user_not_found')
      await create(email)
    })
  }

  const links: GenerateLinkParams[] = [
    { type: 'signup', email: 'link-1@example.com', password, options: { data: { name: 'Ann' } } },
    { type: 'invite', email: 'link-2@example.com', options: { data: { name: 'Ann' } } },
    { type: 'magiclink', email: 'link-3@example.com' },
    { type: 'recovery', email: 'link-1@example.com' },
    { type: 'email_change_current', email: 'link-2@example.com', newEmail: 'link-9@example.com' },
    { type: 'email_change_new', email: 'link-2@example.com', newEmail: 'link-9@example.com' },
  ]
  for (const params of links) {
    test(`generateLink: ${params.type} link signs in`, async () => {
      const { data, error } = await admin.generateLink({
        ...params,
        options: { ...params.options, redirectTo: 'http://app.example/redirect' },
      })
      assert.equal(error, null)
      assert.equal(data.properties?.redirect_to, 'http://app.example/redirect')
      assert.ok(data.user?.id)
      const redirect = await open(data.properties?.action_link ?? '')
      assert.match(redirect, /^http:\/\/app\.example\/redirect#(access_token|message)=/)
    })
  }

  test('generateLink: the hashed token can be verified', async () => {
    const { data } = await admin.generateLink({ type: 'magiclink', email: 'link-1@example.com' })
    const token_hash = data.properties?.hashed_token ?? ''
    const verified = await client().verifyOtp({ token_hash, type: 'magiclink' })
    assert.equal(verified.error, null)
    assert.equal(verified.data.user?.email, 'link-1@example.com')
  })

  test('inviteUserByEmail', async () => {
    const email = 'invited@example.com'
    const { data, error } = await admin.inviteUserByEmail(email, {
      data: { team: 7 },
      redirectTo: 'http://app.example/welcome',
    })
    assert.equal(error, null)
    assert.ok(data.user?.invited_at)
    assert.equal(data.user?.user_metadata.team, 7)
    const redirect = await open(linkIn(await mail.waitFor(email)))
    assert.match(redirect, /^http:\/\/app\.example\/welcome#access_token=/)
    assert.equal((await admin.inviteUserByEmail(email)).error?.code, 'email_exists')
  })

  test('mfa.listFactors, mfa.deleteFactor', async () => {
    const { id: userId } = await create('factors@example.com')
    const id = crypto.randomUUID()
    const values = [id, userId]
    await app.pool.query(
      `insert into auth.mfa_factors (id, user_id, factor_type, status, secret, created_at, updated_at)
       values ($1, $2, 'totp', 'verified', 'secret', now(), now())`,
      values,
    )
    const listed = await admin.mfa.listFactors({ userId })
    assert.deepEqual(
      listed.data?.factors.map((factor) => factor.id),
      [id],
    )
    const deleted = await admin.mfa.deleteFactor({ userId, id })
    assert.equal(deleted.error, null)
    assert.deepEqual((await admin.mfa.listFactors({ userId })).data?.factors, [])
    assert.equal((await admin.mfa.deleteFactor({ userId, id })).error?.code, 'mfa_factor_not_found')
  })

  test('signOut with the token of a user', async () => {
    await create('out@example.com', { email_confirm: true, password })
    const user = client()
    const { data } = await user.signInWithPassword({ email: 'out@example.com', password })
    const jwt = data.session?.access_token ?? ''
    assert.equal((await admin.signOut(jwt, 'global')).error, null)
    assert.ok(isAuthSessionMissingError((await user.getUser(jwt)).error))
  })

  async function create(email: string, more: object = {}): Promise<User> {
    const { data, error } = await admin.createUser({ email, ...more })
    assert.equal(error, null)
    assert.ok(data.user)
    return data.user
  }

  function client() {
    return new AuthClient({ url, autoRefreshToken: false, persistSession: false })
  }

  /** Follows a link as a browser and returns the target. */
  async function open(link: string): Promise<string> {
    const response = await fetch(link.replace('http://auth.example', url), { redirect: 'manual' })
    assert.equal(response.status, 303)
    return response.headers.get('location') ?? ''
  }
})
