/** SEND_EMAIL: the operator sends emails, with a receiver in the form that guides for such hooks show. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { HookEmail } from '../../../../plugins/outgoing/hooks/calls.ts'
import { asAdmin } from '../../../support/admin.ts'
import { cloneDatabase } from '../../../support/database.ts'
import { emailedPath, redirectParams } from '../../../support/messages/mail-journeys.ts'
import { endingOfSuite } from '../../../support/processes/ending.ts'
import { untilRows } from '../../../support/processes/until.ts'
import { call, changeUser, verify } from '../../../support/requests.ts'
import { endsInTime } from '../../../support/runner/bounded.ts'
import { type App, build } from '../../../support/server.ts'
import { newAddress, password, signIn, signUp } from '../../../support/users.ts'
import {
  type HookEvent,
  startHookReceiver,
  userIn,
} from '../../../support/webhooks/hook-receiver.ts'

interface Message {
  to: string
  code: string
  link: string
}

/** Emails rendered by a receiver: one, or one per address of a change. */
function listMessages(event: HookEvent): Message[] {
  const user = Object(event.user) as { email: string; new_email?: string }
  const data = event.email_data as HookEmail
  const { site_url, email_action_type: type, redirect_to, token, token_hash } = data
  const link = (hash: string) =>
    `${site_url}/verify?token=${hash}&type=${type}&redirect_to=${encodeURIComponent(redirect_to)}`
  if (type !== 'email_change') return [{ to: user.email, code: token, link: link(token_hash) }]
  const to = user.new_email ?? ''
  if (data.token_hash_new === '') return [{ to, code: token, link: link(token_hash) }]
  return [
    { to: user.email, code: token, link: link(data.token_hash_new) },
    { to, code: data.token_new, link: link(token_hash) },
  ]
}

const ofKind = (type: string, email: string) => (event: HookEvent) =>
  Object(event.email_data).email_action_type === type && userIn(event).email === email

suite('send email hook over HTTP', () => {
  const ending = endingOfSuite()
  const started = start()

  async function start() {
    const receiver = await startHookReceiver(ending)
    const env = {
      ...receiver.env('SEND_EMAIL'),
      AUTH_MAILER_NOTIFICATIONS_PASSWORD_CHANGED_ENABLED: 'true',
      AUTH_MAILER_NOTIFICATIONS_EMAIL_CHANGED_ENABLED: 'true',
    }
    return { ...(await build(ending, { env })), receiver }
  }

  /** A user who signed up and opened the link sent by the receiver. */
  async function user() {
    const { app, receiver } = await started
    const email = newAddress()
    assert.equal((await signUp(app, { email }, { data: { name: 'Ann' } })).statusCode, 200)
    const event = await receiver.next(0, ofKind('signup', email))
    const [message] = listMessages(event)
    const { fragment } = redirectParams(await app.inject(emailedPath(message?.link ?? '')))
    return { email, event, message, token: fragment.access_token ?? assert.fail() }
  }

  test('replaces the mail server and receives a working link and code', async () => {
    const { app, mail } = await started
    const { email, event, message } = await user()
    assert.equal(message?.to, email)
    assert.equal(mail.messages.length, 0)
    const { token, token_hash, ...rest } = Object(event.email_data)
    assert.match(token, /^\d{6}$/)
    assert.match(token_hash, /^[0-9a-f]{64}$/)
    assert.deepEqual(rest, {
      redirect_to: 'http://app.example',
      email_action_type: 'signup',
      site_url: 'http://auth.example',
      token_new: '',
      token_hash_new: '',
      old_email: '',
      old_phone: '',
      provider: '',
      factor_type: '',
    })
    assert.equal(event.metadata.name, 'send-email')
    assert.equal(Object(userIn(event).user_metadata).name, 'Ann')
    assert.equal((await signIn(app, { email })).statusCode, 200)
  })

  test('names each email type', async () => {
    const { app, receiver } = await started
    const { email, token } = await user()
    const since = receiver.calls.length
    await call(app, '/recover', { email })
    await receiver.next(since, ofKind('recovery', email))
    await call(app, '/magiclink', { email })
    const [message] = listMessages(await receiver.next(since, ofKind('magiclink', email)))
    const typed = { type: 'email', email, token: message?.code }
    assert.equal((await verify(app, typed)).statusCode, 200)
    await call(app, '/reauthenticate', undefined, { token })
    const code = Object((await receiver.next(since, ofKind('reauthentication', email))).email_data)
    assert.deepEqual([code.token.length, code.token_hash], [6, ''])
    await changeUser(app, token, { password: `${password} 2` })
    await receiver.next(since, ofKind('password_changed_notification', email))
    const invited = newAddress()
    await asAdmin(app, 'POST', '/invite', { email: invited })
    await receiver.next(since, ofKind('invite', invited))
  })

  test('is called once for an email change, with a working code and link for each address', async () => {
    const { app, receiver } = await started
    const { email, token } = await user()
    const newEmail = newAddress()
    assert.equal((await changeUser(app, token, { email: newEmail })).statusCode, 200)
    const since = receiver.calls.length
    const event = await receiver.next(0, ofKind('email_change', email))
    const messages = listMessages(event)
    assert.deepEqual(
      messages.map(({ to }) => to),
      [email, newEmail],
    )
    const [toOld, toNew] = messages
    const typed = { type: 'email_change', email, token: toOld?.code }
    assert.equal((await verify(app, typed)).json().code, '200')
    const opened = redirectParams(await app.inject(emailedPath(toNew?.link ?? '')))
    assert.ok(opened.fragment.access_token)
    const changed = (reported: HookEvent) =>
      Object(reported.email_data).email_action_type === 'email_changed_notification'
    const reported = await receiver.next(since, changed)
    assert.deepEqual(
      [Object(reported.email_data).old_email, userIn(reported).email],
      [email, newEmail],
    )
    const changes = receiver.calls.filter(({ event: seen }) => ofKind('email_change', email)(seen))
    assert.equal(changes.length, 1)
  })

  test('hides errors from the client and moves a rejected email to dead letters', async () => {
    const { app, receiver } = await started
    const since = receiver.calls.length
    receiver.answer({ error: { http_code: 422, message: 'No such mailbox' } })
    const email = newAddress()
    assert.equal((await signUp(app, { email })).statusCode, 200)
    const event = await receiver.next(since, ofKind('signup', email))
    const reason = await findReason(app, event.metadata.uuid, 'dead')
    assert.match(reason, /the send email hook did not accept it: No such mailbox/)
    receiver.answer({})
  })

  test('stores long and unprintable error messages truncated', async () => {
    const { app, receiver } = await started
    const since = receiver.calls.length
    const message = `No\u0000 \u001b[2J\nmail to ${'x'.repeat(200_000)}`
    receiver.answer({ error: { http_code: 422, message } })
    const email = newAddress()
    assert.equal((await signUp(app, { email })).statusCode, 200)
    const { metadata } = await receiver.next(since, ofKind('signup', email))
    receiver.answer({})
    let reason = ''
    await endsInTime(async () => {
      reason = await findReason(app, metadata.uuid, 'dead')
    })
    assert.match(reason, /did not accept it: No \[2J mail to …$/)
    assert.ok(reason.length <= 1_000)
  })

  test('moves an email to dead letters when the receiver disconnects after the request', async () => {
    const { app, receiver } = await started
    const email = newAddress()
    receiver.reply({ act: (response) => void response.destroy() })
    const since = receiver.calls.length
    await signUp(app, { email })
    const { metadata } = await receiver.next(since, ofKind('signup', email))
    assert.match(await findReason(app, metadata.uuid, 'dead'), /may have been delivered/)
    const isIt = ofKind('signup', email)
    const requested = receiver.calls.slice(since).filter(({ event }) => isIt(event))
    assert.equal(requested.length, 3)
    receiver.answer({})
  })

  test('moves an email to dead letters when the response is unreadable', async () => {
    const { app, receiver } = await started
    receiver.reply({ body: 'sent', headers: { 'content-type': 'application/json' } })
    const email = newAddress()
    const since = receiver.calls.length
    await signUp(app, { email })
    const { metadata } = await receiver.next(since, ofKind('signup', email))
    assert.match(await findReason(app, metadata.uuid, 'dead'), /may have been delivered/)
    receiver.answer({})
  })

  test('is called again for the same message after a failure', async () => {
    const { app, receiver } = await started
    const since = receiver.calls.length
    receiver.reply({ status: 500 })
    const email = newAddress()
    await signUp(app, { email })
    const event = await receiver.next(since, ofKind('signup', email))
    const { uuid } = event.metadata
    assert.match(await findReason(app, uuid, 'queued'), /A hook returned an error/)
    receiver.answer({})
  })
})

test('retries an email when the database fails before the call', async (t) => {
  const receiver = await startHookReceiver(t)
  const database = await cloneDatabase()
  const withLockTimeout = new URL(database.url)
  withLockTimeout.searchParams.set('options', '-c lock_timeout=200')
  const env = { ...receiver.env('SEND_EMAIL'), DATABASE_URL: withLockTimeout.href }
  const { app } = await build(t, { database, env })
  receiver.reply({ status: 500 })
  const email = newAddress()
  await signUp(app, { email })
  const { metadata } = await receiver.next(0, ofKind('signup', email))
  await findReason(app, metadata.uuid, 'queued')
  const other = await app.pool.connect()
  await other.query('begin; lock table auth.users in access exclusive mode')
  const triedAgain = () =>
    app.db
      .selectFrom('postern_mail_messages')
      .select(['state', 'reason'])
      .where('id', '=', metadata.uuid)
      .where('attempts', '=', 2)
      .where('state', '<>', 'sending')
      .execute()
  const [tried] = await untilRows(triedAgain)
  await other.query('rollback')
  other.release()
  assert.equal(receiver.calls.length, 1)
  assert.equal(tried?.state, 'queued', tried?.reason ?? '')
})

/** The reason of the message once it has that state. */
async function findReason(app: App, id: string, state: 'dead' | 'queued'): Promise<string> {
  const [row] = await untilRows(() =>
    app.db
      .selectFrom('postern_mail_messages')
      .select('reason')
      .where('id', '=', id)
      .where('state', '=', state)
      .where('reason', 'is not', null)
      .execute(),
  )
  return row?.reason ?? ''
}
