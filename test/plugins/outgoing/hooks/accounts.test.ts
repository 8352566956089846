/** BEFORE_USER_CREATED and AFTER_USER_CREATED: permission to sign up, and notification. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { findUserByEmail, findUserByPhone } from '../../../../db/users/users.ts'
import { asAdmin } from '../../../support/admin.ts'
import { nextEmail } from '../../../support/messages/mail-journeys.ts'
import { startSmsServer } from '../../../support/messages/sms-server.ts'
import { endingOfSuite } from '../../../support/processes/ending.ts'
import { untilRows } from '../../../support/processes/until.ts'
import { call, statusAndCode } from '../../../support/requests.ts'
import { build } from '../../../support/server.ts'
import {
  adminCreatedUser,
  confirmedUser,
  newAddress,
  newNumber,
  password,
  signUp,
  unconfirmedUser,
} from '../../../support/users.ts'
import {
  functionEnv,
  makeFunction,
  makeNotes,
  readNotes,
} from '../../../support/webhooks/hook-functions.ts'
import {
  type HookEvent,
  startHookReceiver,
  userIn,
} from '../../../support/webhooks/hook-receiver.ts'

const matchesEvent = (name: string, address: string) => (event: HookEvent) =>
  event.metadata.name === name && [userIn(event).email, userIn(event).phone].includes(address)
const before = (address: string) => matchesEvent('before-user-created', address)
const after = (address: string) => matchesEvent('after-user-created', address)

/** In the form of the rules that users write: only some may have an account. */
const onlyAllowed = (event: HookEvent) => {
  const { email, phone } = userIn(event)
  const isAllowed = !String(email).startsWith('blocked') && !String(phone).startsWith('1666')
  const error = { http_code: 403, message: 'Only members may sign up' }
  return isAllowed ? {} : { error }
}

suite('before and after user created hooks over HTTP', () => {
  const ending = endingOfSuite()
  const started = start()

  async function start() {
    const receiver = await startHookReceiver(ending)
    receiver.answer((event) =>
      event.metadata.name === 'before-user-created' ? onlyAllowed(event) : {},
    )
    const texts = await startSmsServer()
    ending.after(texts.stop)
    const built = await build(ending, {
      env: {
        ...texts.env,
        ...receiver.env('BEFORE_USER_CREATED', 'AFTER_USER_CREATED'),
        AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
      },
    })
    return { ...built, receiver, texts }
  }

  /** A number that the rule rejects. */
  const strangeNumber = () => newNumber().replace(/^1555/, '1666')

  test('are called before and after a sign-up by email', async () => {
    const { app, receiver } = await started
    const email = newAddress()
    const response = await signUp(app, { email }, { data: { city: 'Oslo' } })
    const { user } = await receiver.next(0, before(email))
    assert.deepEqual(user, {
      id: response.json().id,
      aud: 'authenticated',
      role: '',
      email,
      phone: '',
      app_metadata: { provider: 'email', providers: ['email'] },
      user_metadata: { city: 'Oslo' },
      identities: [],
      created_at: '0001-01-01T00:00:00Z',
      updated_at: '0001-01-01T00:00:00Z',
      is_anonymous: false,
    })
    const reported = await receiver.next(0, after(email))
    const made = userIn(reported)
    assert.equal(made.id, response.json().id)
    assert.equal(made.role, 'authenticated')
    assert.deepEqual(Object(made.identities).length, 1)
    assert.equal(reported.metadata.ip_address, '127.0.0.1')
  })

  test('are called for accounts from invitations, links, phones and anonymous sign-ups', async () => {
    const { app, mail, receiver } = await started
    const server = { app, mail }
    const [invited, linked, byLink] = [newAddress(), newAddress(), newAddress()]
    const [phone, texted] = [newNumber(), newNumber()]
    await asAdmin(app, 'POST', '/invite', { email: invited })
    const link = { type: 'signup', email: linked, password }
    assert.equal((await asAdmin(app, 'POST', '/admin/generate_link', link)).statusCode, 200)
    await signUp(app, { phone })
    await call(app, '/otp', { phone: texted })
    await call(app, '/magiclink', { email: byLink })
    await nextEmail(server, byLink, 0)
    for (const address of [invited, linked, byLink, phone, texted]) {
      await receiver.next(0, before(address))
      await receiver.next(0, after(address))
    }
    const guest = (await call(app, '/signup', {})).json().user
    const requested = await receiver.next(0, (event) => userIn(event).id === guest.id)
    assert.equal(userIn(requested).is_anonymous, true)
    await receiver.next(0, (event) => {
      return event.metadata.name === 'after-user-created' && userIn(event).id === guest.id
    })
  })

  test('are not called for a user created by an admin', async () => {
    const { app, receiver } = await started
    const email = newAddress('blocked')
    await adminCreatedUser(app, { email })
    const later = newAddress()
    await signUp(app, { email: later })
    await receiver.next(0, after(later))
    assert.equal(
      receiver.calls.some(({ event }) => userIn(event).email === email),
      false,
    )
  })

  test('return a rejection to the client and store nothing', async () => {
    const { app } = await started
    const email = newAddress('blocked')
    const phone = strangeNumber()
    const link = { type: 'magiclink', email }
    const rejected = [
      await signUp(app, { email }),
      await signUp(app, { phone }),
      await asAdmin(app, 'POST', '/invite', { email }),
      await asAdmin(app, 'POST', '/admin/generate_link', link),
    ]
    for (const response of rejected) {
      assert.deepEqual(statusAndCode(response), [403, 'unknown'])
      assert.equal(response.json().msg, 'Only members may sign up')
    }
    assert.equal(await findUserByEmail(app.db, email, 'authenticated'), undefined)
    assert.equal(await findUserByPhone(app.db, phone, 'authenticated'), undefined)
  })

  test('reject a taken email with the same response as a new one', async () => {
    const { app } = await started
    const email = newAddress('blocked')
    await adminCreatedUser(app, { email, email_confirm: true })
    assert.deepEqual(statusAndCode(await signUp(app, { email })), [403, 'unknown'])
  })

  test('hide a rejection from clients that request a link or code', async () => {
    const { app, mail, receiver, texts } = await started
    const email = newAddress('blocked')
    const phone = strangeNumber()
    const known = newNumber()
    await signUp(app, { phone: known })
    const responses = [
      await call(app, '/magiclink', { email }),
      await call(app, '/otp', { phone }),
      await call(app, '/otp', { phone: known }),
    ]
    for (const response of responses) {
      assert.deepEqual([response.statusCode, response.json()], [200, {}])
    }
    await receiver.next(0, before(email))
    const registeredUser = newAddress()
    await call(app, '/magiclink', { email: registeredUser })
    await nextEmail({ mail }, registeredUser, 0)
    assert.equal(
      mail.messages.some(({ to }) => to.includes(email)),
      false,
    )
    assert.equal(
      texts.messages.some(({ to }) => to.endsWith(phone)),
      false,
    )
    assert.equal(await findUserByPhone(app.db, phone, 'authenticated'), undefined)
  })

  test('are not called when an existing user signs in', async () => {
    const { app, mail, receiver } = await started
    const { user } = await confirmedUser({ app, mail })
    const since = receiver.calls.length
    const emails = mail.messages.length
    await call(app, '/magiclink', { email: user.email })
    await nextEmail({ mail }, user.email, emails)
    await asAdmin(app, 'POST', '/admin/generate_link', { type: 'magiclink', email: user.email })
    assert.equal(
      receiver.calls.slice(since).some(({ event }) => before(user.email)(event)),
      false,
    )
  })

  test('time out without holding a transaction', async () => {
    const { app, receiver } = await started
    const email = newAddress('hanging')
    receiver.reply({ act: () => {} })
    const pending = signUp(app, { email })
    await receiver.next(0, before(email))
    const open = await app.pool.query(
      "select from pg_stat_activity where datname = current_database() and state like 'idle in%'",
    )
    assert.equal(open.rowCount, 0)
    assert.deepEqual(statusAndCode(await pending), [422, 'hook_timeout'])
    receiver.answer((event) =>
      event.metadata.name === 'before-user-created' ? onlyAllowed(event) : {},
    )
  })

  test('retry a failed after hook without affecting the sign-up', async () => {
    const { app, mail, receiver } = await started
    const email = newAddress()
    receiver.reply((event) => (after(email)(event) ? { status: 500 } : {}))
    await unconfirmedUser({ app, mail }, email)
    const { metadata } = await receiver.next(0, after(email))
    receiver.answer({})
    const since = receiver.calls.length
    // After hours of failures, too.
    await untilRows(async () => {
      const { rows } = await app.pool.query(
        `update auth_jobs._private_jobs set run_at = now(), attempts = 19
          where attempts > 0 and last_error is not null and locked_at is null returning id`,
      )
      return rows
    })
    await app.pool.query('notify "jobs:insert", \'{"count":1}\'')
    const again = await receiver.next(since, after(email))
    assert.equal(again.metadata.uuid, metadata.uuid)
  })

  test('store a rejection message with invalid characters', async () => {
    const { app, receiver } = await started
    const error = { http_code: 500, message: 'No\u0000\ud83d' }
    const email = newAddress()
    receiver.answer((event) => (after(email)(event) ? { error } : {}))
    await signUp(app, { email })
    await receiver.next(0, after(email))
    await untilRows(async () => {
      const { rows } = await app.pool.query(
        `select id from auth_jobs._private_jobs where last_error = 'No\ufffd' and locked_at is null`,
      )
      return rows
    })
    receiver.answer({})
  })
})

suite('before and after user created hooks as database functions', () => {
  const ending = endingOfSuite()
  const started = start()

  async function start() {
    const { app } = await build(ending, {
      env: {
        AUTH_MAILER_AUTOCONFIRM: 'true',
        ...functionEnv('BEFORE_USER_CREATED', 'before_user_created'),
        ...functionEnv('AFTER_USER_CREATED', 'after_user_created'),
      },
    })
    await makeNotes(app)
    await makeFunction(
      app,
      'before_user_created',
      `begin
        if event->'user'->>'email' like 'blocked%' then
          return '{"error":{"http_code":403,"message":"Only members may sign up"}}';
        end if;
        return '{}';
      end;`,
    )
    const note = 'begin insert into operator.notes (event) values (event); return null; end;'
    await makeFunction(app, 'after_user_created', note)
    return { app }
  }

  test('reject and are called for immediate sign-ups', async () => {
    const { app } = await started
    const rejected = await signUp(app, { email: newAddress('blocked') })
    assert.deepEqual(statusAndCode(rejected), [403, 'unknown'])
    const email = newAddress()
    assert.equal((await signUp(app, { email })).statusCode, 200)
    const notes = await untilRows(() => readNotes(app))
    assert.deepEqual(
      notes.map(({ user }) => Object(user).email),
      [email],
    )
  })
})
