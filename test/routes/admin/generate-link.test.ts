import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'

import { sql } from 'kysely'

import type { User } from '../../../schemas/user.ts'
import { adminCall, asAdmin } from '../../support/admin.ts'
import { lockUserRow } from '../../support/locked-user.ts'
import type { MailServer } from '../../support/messages/mail-server.ts'
import { endingOfSuite } from '../../support/processes/ending.ts'
import { call, statusAndCode } from '../../support/requests.ts'
import { type App, build } from '../../support/server.ts'
import {
  adminCreatedUser,
  newAddress,
  password,
  signedIn,
  signIn,
  signUp,
} from '../../support/users.ts'

interface GeneratedLink extends User {
  action_link: string
  email_otp: string
  hashed_token: string
  verification_type: string
  redirect_to: string
}

const target = 'http://app.example/welcome'

suite('POST /admin/generate_link', () => {
  const ending = endingOfSuite()
  let app: App
  let mail: MailServer
  before(async () => {
    const built = await build(ending)
    app = built.app
    mail = built.mail
  })

  test('does not deadlock when two admins create links for each other', async () => {
    const newAdmin = async () => {
      const email = newAddress()
      await adminCreatedUser(app, { email, password, email_confirm: true, role: 'service_role' })
      return { email, session: await signedIn(app, email) }
    }
    const [one, two] = [await newAdmin(), await newAdmin()]
    const link = (by: typeof one, { email }: typeof one) =>
      call(
        app,
        '/admin/generate_link',
        { type: 'recovery', email },
        { token: by.session.access_token },
      )
    for (let round = 0; round < 5; round++) {
      const made = await Promise.all([link(one, two), link(two, one)])
      assert.deepEqual(made.map(statusAndCode), [
        [200, ''],
        [200, ''],
      ])
    }
  })

  type Row = [string, { exists: boolean; body?: object; type?: string; opensAs?: string }]
  const working: Row[] = [
    ['signup', { exists: false, body: { password, data: { name: 'Ann' } } }],
    ['magiclink', { exists: true }],
    ['magiclink', { exists: false, type: 'signup' }],
    ['recovery', { exists: true }],
    ['invite', { exists: false, body: { data: { name: 'Ann' } } }],
  ]
  for (const [type, { exists, body = {}, type: made = type }] of working) {
    test(`${type} for ${exists ? 'a known' : 'an unknown'} email creates a link that signs in`, async () => {
      const email = newAddress()
      if (exists) await create(email)

      const link = await generate({ type, email, ...body, redirect_to: target })

      assert.equal(link.email, email)
      assert.equal(link.verification_type, made)
      assert.equal(link.redirect_to, target)
      const query = new URL(link.action_link).searchParams
      assert.deepEqual(Object.fromEntries(query), {
        token: link.hashed_token,
        type: made,
        redirect_to: target,
      })
      assert.ok(link.action_link.startsWith('http://auth.example/verify?'))
      const opened = await open(link)
      assert.ok(opened.startsWith(`${target}#access_token=`), opened)
      assert.equal(new URLSearchParams(new URL(opened).hash.slice(1)).get('type'), made)
      const user = await adminCall(app, 'GET', `/admin/users/${link.id}`)
      assert.ok(user.email_confirmed_at)
      assert.match(await open(link), /error_code=otp_expired/)
    })
  }

  test('sets the password sent with a signup link', async () => {
    const email = newAddress()
    await open(await generate({ type: 'signup', email, password }))
    assert.equal((await signedIn(app, email)).user.email, email)
  })

  for (const type of ['signup', 'magiclink', 'recovery', 'invite']) {
    test(`${type}: code and link are equivalent and are consumed together`, async () => {
      const email = newAddress()
      if (type === 'magiclink' || type === 'recovery') await create(email)
      const link = await generate({ type, email, password })
      const payload = { type, email, token: link.email_otp }
      const verified = await app.inject({ method: 'POST', url: '/verify', payload })
      assert.equal(verified.statusCode, 200, verified.body)
      assert.match(await open(link), /error_code=otp_expired/)
    })
  }

  test('returns a hashed_token that /verify accepts as token_hash', async () => {
    const { hashed_token } = await generate({ type: 'invite', email: newAddress() })
    const payload = { type: 'invite', token_hash: hashed_token }
    const verified = await app.inject({ method: 'POST', url: '/verify', payload })
    assert.equal(verified.statusCode, 200, verified.body)
  })

  test('changes an email when both links were opened, in either order', async () => {
    for (const order of [
      ['email_change_current', 'email_change_new'],
      ['email_change_new', 'email_change_current'],
    ]) {
      const [email, new_email] = [newAddress(), newAddress()]
      const { id } = await create(email)
      const links = []
      for (const type of order) {
        const link = await generate({ type, email, new_email })
        assert.equal(link.verification_type, type)
        assert.equal(link.new_email, new_email)
        assert.equal(new URL(link.action_link).searchParams.get('type'), 'email_change')
        links.push(link)
      }
      const [first, second] = links
      assert.match(await open(first), /#message=/)
      assert.equal((await adminCall(app, 'GET', `/admin/users/${id}`)).email, email)
      assert.match(await open(second), /#access_token=/)
      assert.equal((await adminCall(app, 'GET', `/admin/users/${id}`)).email, new_email)
    }
  })

  test('does not confirm a new email by the link for another email', async () => {
    const [email, newValue, other] = [newAddress(), newAddress(), newAddress()]
    await create(email)
    const agreed = await generate({ type: 'email_change_current', email, new_email: newValue })
    const made = await generate({ type: 'email_change_new', email, new_email: other })
    assert.match(await open(agreed), /error_code=otp_expired/)
    assert.match(await open(made), /#message=/)
  })

  test('drops a password set before the email was verified', async () => {
    const email = newAddress()
    const theirs = 'the password of another user'
    await signUp(app, { email, password: theirs })
    await mail.waitFor(email)
    for (const [type, body] of Object.entries({
      invite: {},
      signup: { password },
      magiclink: {},
    })) {
      await sql`update auth.users set email_confirmed_at = null where email = ${email}`.execute(
        app.db,
      )
      await open(await generate({ type, email, ...body }))
      const response = await signIn(app, { email, password: theirs })
      assert.equal(response.json().error_code, 'invalid_credentials', type)
    }
  })

  test('replaces a disallowed redirect_to by the site URL', async () => {
    const link = await generate({
      type: 'invite',
      email: newAddress(),
      redirect_to: 'https://evil.example/',
    })
    assert.equal(link.redirect_to, 'http://app.example')
  })

  test('sends no email', async () => {
    const email = newAddress()
    await generate({ type: 'invite', email })
    assert.ok(!mail.messages.some(({ to }) => to === email))
  })

  test('invalidates links when the email changes', async () => {
    const email = newAddress()
    const { id } = await create(email)
    const link = await generate({ type: 'recovery', email })
    await adminCall(app, 'PUT', `/admin/users/${id}`, { email: newAddress() })
    assert.match(await open(link), /error_code=otp_expired/)
  })

  test('returns user_not_found when the email changes concurrently', async () => {
    const email = newAddress()
    const { id } = await create(email)
    const change = { type: 'email_change_new', email, new_email: newAddress() }
    const lock = await lockUserRow(app, id)
    const requested = await lock.queue(1, () =>
      asAdmin(app, 'POST', '/admin/generate_link', change),
    )
    await lock.query('update auth.users set email = $2 where id = $1', [id, newAddress()])
    await lock.release()
    assert.deepEqual(statusAndCode(await requested.response), [404, 'user_not_found'])
    const { new_email } = await adminCall(app, 'GET', `/admin/users/${id}`)
    assert.equal(new_email, undefined)
  })

  const known = 'known@example.com'
  const unknown = 'unknown@example.com'
  const invalidCases: [object, number, string][] = [
    [{ email: known }, 400, 'validation_failed'],
    [{ type: 'recovery' }, 400, 'validation_failed'],
    [{ type: 'phone_change', email: known }, 400, 'validation_failed'],
    [{ type: 'signup', email: unknown }, 400, 'validation_failed'],
    [{ type: 'signup', email: unknown, password: 'short' }, 422, 'weak_password'],
    [{ type: 'signup', email: known, password }, 422, 'email_exists'],
    [{ type: 'invite', email: known }, 422, 'email_exists'],
    [{ type: 'recovery', email: unknown }, 404, 'user_not_found'],
    [{ type: 'recovery', email: 'unknown' }, 400, 'validation_failed'],
    [{ type: 'email_change_new', email: unknown, new_email: 'x@y.co' }, 404, 'user_not_found'],
    [{ type: 'email_change_new', email: known }, 400, 'validation_failed'],
    [{ type: 'email_change_new', email: known, new_email: 'x' }, 400, 'validation_failed'],
    [{ type: 'email_change_new', email: known, new_email: 'other@b.co' }, 422, 'email_exists'],
    [{ type: 'email_change_new', email: known, new_email: known }, 422, 'email_exists'],
    [{ type: 'email_change_current', email: known, new_email: known }, 422, 'email_exists'],
  ]
  test('rejects invalid requests and changes nothing', async () => {
    await create(known)
    await create('other@b.co')
    const before = await state()
    for (const [body, status, code] of invalidCases) {
      const response = await asAdmin(app, 'POST', '/admin/generate_link', body)
      const got = [response.statusCode, response.json().error_code]
      assert.deepEqual(got, [status, code], `${JSON.stringify(body)} ${response.body}`)
    }
    assert.deepEqual(await state(), before)
  })

  test('email_change_current requires AUTH_MAILER_SECURE_EMAIL_CHANGE_ENABLED', async (t) => {
    const env = { AUTH_MAILER_SECURE_EMAIL_CHANGE_ENABLED: 'false' }
    const { app: lenient } = await build(t, { env })
    await adminCreatedUser(lenient, { email: known })
    const body = { type: 'email_change_current', email: known, new_email: 'new@b.co' }
    const response = await asAdmin(lenient, 'POST', '/admin/generate_link', body)
    assert.equal(response.json().error_code, 'validation_failed')
    const alone = await adminCall<GeneratedLink>(lenient, 'POST', '/admin/generate_link', {
      ...body,
      type: 'email_change_new',
    })
    const url = alone.action_link.replace('http://auth.example', '')
    const opened = await lenient.inject({ url })
    assert.match(String(opened.headers.location), /#access_token=/)
  })

  function create(email: string): Promise<User> {
    return adminCreatedUser(app, { email, email_confirm: true })
  }

  function generate(body: object): Promise<GeneratedLink> {
    return adminCall(app, 'POST', '/admin/generate_link', body)
  }

  /** Follows the link as a browser and returns the response. */
  async function open(link: GeneratedLink | undefined): Promise<string> {
    const url = link?.action_link.replace('http://auth.example', '') ?? ''
    const response = await app.inject({ url })
    assert.equal(response.statusCode, 303)
    return String(response.headers.location)
  }

  async function state() {
    const { rows } =
      await sql`select id, email_change, updated_at from auth.users order by id`.execute(app.db)
    return rows
  }
})
