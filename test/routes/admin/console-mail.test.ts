/** The mail queue for operators: list, retry, drop, preview and test. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { adminCall, asAdmin } from '../../support/admin.ts'
import { withConsole } from '../../support/admins.ts'
import { nextEmail } from '../../support/messages/mail-journeys.ts'
import { until } from '../../support/processes/until.ts'
import { call, statusAndCode } from '../../support/requests.ts'
import { type App, build } from '../../support/server.ts'
import { newAddress, signUpUser } from '../../support/users.ts'

interface Mail {
  id: string
  kind: string
  status: string
  user_id: string | null
  retryable: boolean
  uncertain: boolean
}

interface Page {
  mails: Mail[]
  next_cursor: string | null
}

const list = (app: App, query = '') => adminCall<Page>(app, 'GET', `/admin/mail?${query}`)

interface Draft {
  subject: string
  html: string
  problems: string[]
}

suite('/admin/mail', () => {
  test('lists dead letters, retries one and drops another', async (t) => {
    const server = await build(t, { env: withConsole })
    const { app, mail } = server
    const users = [await signUpUser(app), await signUpUser(app)]
    mail.behave('permanent')
    for (const { email } of users) await call(app, '/recover', { email })
    await until(async () => (await list(app, 'state=dead')).mails.length === 2)
    const { mails } = await list(app, 'state=dead')
    assert.deepEqual(
      mails.map(({ kind, status, retryable, uncertain }) => [kind, status, retryable, uncertain]),
      [
        ['recovery', 'refused', true, false],
        ['recovery', 'refused', true, false],
      ],
    )
    // Emails of the same millisecond are listed in any order.
    const [first, second] = users.map(({ user }) => mails.find((mail) => mail.user_id === user.id))
    mail.behave('accept')
    const since = mail.messages.length
    await adminCall<object>(app, 'POST', `/admin/mail/${first?.id}/retry`)
    await nextEmail(server, users[0]?.email ?? '', since)
    const again = await asAdmin(app, 'POST', `/admin/mail/${first?.id}/retry`)
    assert.deepEqual(statusAndCode(again), [422, 'mail_not_retryable'])
    assert.equal((await asAdmin(app, 'DELETE', `/admin/mail/${second?.id}`)).statusCode, 204)
    assert.deepEqual((await list(app, 'state=dead')).mails, [])
    const missing = await asAdmin(app, 'DELETE', `/admin/mail/${second?.id}`)
    assert.deepEqual(statusAndCode(missing), [404, 'mail_not_found'])
  })

  test('retries all dead letters except those that may have been delivered', async (t) => {
    const { app } = await build(t, { env: { ...withConsole, AUTH_SMTP_HOST: '127.0.0.1' } })
    const { user } = await signUpUser(app)
    const now = new Date()
    const row = (id: string, reason: string, payload = 'x') => ({
      id,
      kind: 'recovery',
      payload,
      state: 'dead' as const,
      attempts: 1,
      reason,
      created_at: now,
      updated_at: now,
      expires_at: null,
      sent_at: null,
      user_id: user.id,
      locale: 'en',
      outcome: null,
      response: null,
    })
    const ids = Array.from({ length: 3 }, () => crypto.randomUUID())
    await app.db
      .insertInto('postern_mail_messages')
      .values([
        row(ids[0] ?? '', 'gave up after three days'),
        row(ids[1] ?? '', 'may have been delivered: the server stopped'),
        row(ids[2] ?? '', 'expired', ''),
      ])
      .execute()
    const uncertain = (await list(app, 'state=dead')).mails.find(({ id }) => id === ids[1])
    assert.deepEqual([uncertain?.retryable, uncertain?.uncertain], [true, true])
    const rejected = await asAdmin(app, 'POST', `/admin/mail/${ids[1]}/retry`)
    assert.deepEqual(statusAndCode(rejected), [422, 'mail_not_retryable'])
    assert.deepEqual(await adminCall<object>(app, 'POST', '/admin/mail/retry'), { queued: 1 })
    const body = { uncertain: true }
    assert.deepEqual(await adminCall<object>(app, 'POST', `/admin/mail/${ids[1]}/retry`, body), {})
  })

  test('paginates by cursor and filters by kind', async (t) => {
    const server = await build(t, { env: withConsole })
    const { app } = server
    const { email } = await signUpUser(app)
    for (const url of ['/recover', '/magiclink', '/recover']) await call(app, url, { email })
    await until(async () => (await list(app)).mails.length === 3)
    const seen: Mail[] = []
    let cursor: string | null = ''
    do {
      const page: Page = await list(app, `limit=1&cursor=${cursor}`)
      seen.push(...page.mails)
      cursor = page.next_cursor
    } while (cursor)
    assert.equal(new Set(seen.map(({ id }) => id)).size, 3)
    assert.equal((await list(app, 'kind=magic_link')).mails.length, 1)
    const bad = await asAdmin(app, 'GET', '/admin/mail?cursor=x')
    assert.deepEqual(statusAndCode(bad), [400, 'validation_failed'])
  })

  test('previews each email type in each language with the configured subject', async (t) => {
    const env = { ...withConsole, AUTH_MAILER_SUBJECTS_RECOVERY: 'Our own subject' }
    const { app } = await build(t, { env })
    const { kinds, languages, default_language } = await adminCall<{
      kinds: string[]
      languages: { tag: string; name: string }[]
      default_language: string
    }>(app, 'GET', '/admin/mail/templates')
    assert.ok(kinds.includes('recovery') && kinds.length > 10)
    assert.equal(default_language, 'en')
    for (const { tag } of languages) {
      const url = `/admin/mail/preview?kind=recovery&locale=${tag}`
      const { subject, html } = await adminCall<{ subject: string; html: string }>(app, 'GET', url)
      assert.match(html, /<html/)
      if (tag === 'en') assert.equal(subject, 'Our own subject')
    }
    for (const query of ['kind=love-letter', 'kind=recovery&locale=xx']) {
      const response = await asAdmin(app, 'GET', `/admin/mail/preview?${query}`)
      assert.deepEqual(statusAndCode(response), [400, 'validation_failed'])
    }
  })

  test('previews a draft and lists its errors without storing or fetching it', async (t) => {
    const { app } = await build(t, { env: withConsole })
    const url = '/admin/mail/preview'
    const draft = { kind: 'recovery', subject: 'Hello', template: '<p>{{ .Email }}</p>' }
    const shown = await adminCall<Draft>(app, 'POST', url, draft)
    assert.equal(shown.subject, 'Hello')
    assert.match(shown.html, /^<p>[^<]+@[^<]+<\/p>$/)
    const unknown = { ...draft, template: '<p>{{ .Nonsense }}{{ .ConfirmationURL }}</p>' }
    const { problems } = await adminCall<Draft>(app, 'POST', url, unknown)
    assert.match(problems.join(), /Nonsense/)
    const broken = await adminCall<Draft>(app, 'POST', url, { ...draft, template: '<p>{{ if }}' })
    assert.ok(broken.problems.length > 0)
    const { subject } = await adminCall<Draft>(app, 'GET', `${url}?kind=recovery`)
    assert.notEqual(subject, 'Hello')
    const remote = { ...draft, template: 'https://example.com/a.html' }
    assert.deepEqual(statusAndCode(await asAdmin(app, 'POST', url, remote)), [
      400,
      'validation_failed',
    ])
  })

  test('sends a test email immediately and returns the response of the mail server', async (t) => {
    const server = await build(t, { env: withConsole })
    const address = newAddress()
    const body = { kind: 'magic_link', address }
    const sent = await adminCall<{ response: string }>(server.app, 'POST', '/admin/mail/test', body)
    assert.match(sent.response, /^250|ok|queued|accepted/i)
    await nextEmail(server, address, 0)
    server.mail.behave('permanent')
    const response = await asAdmin(server.app, 'POST', '/admin/mail/test', body)
    assert.deepEqual(statusAndCode(response), [422, 'mail_not_sent'])
    assert.ok(!response.body.includes(address), response.body)
  })
})
