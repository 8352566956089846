import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'

import { mailKindNames } from '../../../mail/kinds/index.ts'
import { endingOfSuite } from '../../support/processes/ending.ts'
import { build } from '../../support/server.ts'

const noMailServer = { AUTH_SMTP_HOST: '', AUTH_SMTP_ADMIN_EMAIL: '' }
const sms = { phone: '4915112345678', text: 'Your code is 123456', code: '123456' }

suite('development inbox', () => {
  /** For tests that only read. */
  let app: App
  const ending = endingOfSuite()
  before(async () => {
    app = (await build(ending, { dev: true, env: noMailServer })).app
  })

  test('lists the email of a sign-up first, with link and code', async (t) => {
    const { app } = await build(t, { dev: true, env: noMailServer })
    await app.devInbox?.addSms(sms)

    await arrival(app, () =>
      app.inject({
        method: 'POST',
        url: '/signup',
        payload: { email: 'ada@example.com', password: 'correct horse battery' },
      }),
    )

    const response = await app.inject('/dev/messages')
    const [mail, text] = response.json()
    assert.equal(response.json().length, 2)
    assert.deepEqual(
      { channel: mail.channel, to: mail.to, subject: mail.subject },
      { channel: 'email', to: 'ada@example.com', subject: 'Confirm your email address' },
    )
    assert.match(mail.code, /^\d{6}$/)
    assert.match(mail.links[0], /\/verify\?token=[0-9a-f]{64}&type=signup/)
    assert.ok(mail.html.includes(mail.code) && mail.text.includes(mail.code))
    assert.ok(!Number.isNaN(Date.parse(mail.sent_at)))
    assert.deepEqual(
      { ...text, id: '', sent_at: '' },
      {
        id: '',
        channel: 'sms',
        to: '+4915112345678',
        subject: null,
        text: 'Your code is 123456',
        html: null,
        links: [],
        code: '123456',
        problems: [],
        sent_at: '',
      },
    )
  })

  test('shows the link of a new-device email', async (t) => {
    const env = {
      ...noMailServer,
      AUTH_MAILER_AUTOCONFIRM: 'true',
      AUTH_MAILER_NOTIFICATIONS_NEW_SIGN_IN_ENABLED: 'true',
    }
    const { app } = await build(t, { dev: true, env })
    const payload = { email: 'ada@example.com', password: 'correct horse battery' }
    const post = (url: string, agent: string) =>
      app.inject({ method: 'POST', url, payload, headers: { 'user-agent': agent } })
    assert.equal((await post('/signup', 'Firefox/120.0 (Windows NT 10.0)')).statusCode, 200)

    await arrival(app, () => post('/token?grant_type=password', 'Safari/604.1 (iPhone)'))

    const [mail] = (await app.inject('/dev/messages')).json()
    assert.match(mail.links[0], /\/sessions\/end\?token=/)
    assert.ok(mail.text.includes(mail.links[0]))
  })

  test('streams changes beyond the request deadline', async (t) => {
    const lines: string[] = []
    const env = { ...noMailServer, AUTH_API_MAX_REQUEST_DURATION: '1s' }
    const { app } = await build(t, { dev: true, env, lines })
    const url = await app.listen({ host: '127.0.0.1', port: 0 })
    const { body } = await fetch(`${url}/dev/events`)
    const received = body?.pipeThrough(new TextDecoderStream()).getReader()
    assert.match((await received?.read())?.value ?? '', /retry/)
    await pause(1_200)

    await app.devInbox?.addSms(sms)

    assert.match((await received?.read())?.value ?? '', /event: change/)
    assert.doesNotMatch(lines.join(), /timed out/)
  })

  test('DELETE empties the inbox', async (t) => {
    const { app } = await build(t, { dev: true, env: noMailServer })
    await app.devInbox?.addSms(sms)

    const response = await app.inject({ method: 'DELETE', url: '/dev/messages' })

    assert.equal(response.statusCode, 204)
    assert.deepEqual((await app.inject('/dev/messages')).json(), [])
  })

  test('keeps the newest 500 messages', async (t) => {
    const { app } = await build(t, { dev: true, env: noMailServer })
    for (let n = 1; n <= 510; n++) await app.devInbox?.addSms({ ...sms, code: String(n) })

    const messages = (await app.inject('/dev/messages')).json()

    assert.deepEqual([messages.length, messages[0].code, messages[499].code], [500, '510', '11'])
  })

  test('streams changes and does not delay the shutdown', async (t) => {
    const { app } = await build(t, { dev: true, env: noMailServer })
    const address = await app.listen({ host: '127.0.0.1', port: 0 })
    const response = await fetch(`${address}/dev/events`)
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    assert.ok(reader)
    assert.match((await reader.read()).value ?? '', /^retry: /)

    await app.devInbox?.addSms(sms)

    assert.equal((await reader.read()).value, 'event: change\ndata:\n\n')
    await app.close()
    assert.equal((await reader.read()).done, true)
  })

  const pages = ['/dev', '/dev/inbox', '/dev/mail-templates']
  for (const page of pages) {
    test(`${page} runs only scripts of this server and loads nothing from other origins`, async () => {
      const { headers, body, statusCode } = await app.inject(page)

      assert.equal(statusCode, 200)
      const policy = String(headers['content-security-policy'])
      assert.match(policy, /default-src 'none'; script-src 'self';/)
      const own = body.replaceAll(/srcdoc="[^"]*"/g, '')
      assert.doesNotMatch(own, /<script(?! src="\/dev\/[\w-]+\.js" defer>)/)
      assert.doesNotMatch(own, /(src|href)="(https?:)?\/\//)
    })
  }

  test('shows each email type on the template page', async () => {
    const { body } = await app.inject('/dev/mail-templates')

    assert.equal(body.match(/<iframe /g)?.length, mailKindNames.length)
    assert.equal(body.match(/srcdoc="&#60;!doctype html/g)?.length, mailKindNames.length)
  })

  const requests = {
    'a fetch by another site': { site: 'cross-site', mode: 'cors', status: 404 },
    'a resource load by another site': { site: 'cross-site', mode: 'no-cors', status: 404 },
    'a link from another site': { site: 'cross-site', mode: 'navigate', status: 200 },
    'a fetch by an app on another port': { site: 'same-site', mode: 'cors', status: 200 },
    'a fetch by the inbox page': { site: 'same-origin', mode: 'cors', status: 200 },
  }
  for (const [who, { site, mode, status }] of Object.entries(requests)) {
    test(`returns ${status} for ${who}`, async () => {
      const response = await app.inject({
        url: '/dev/messages',
        headers: { 'sec-fetch-site': site, 'sec-fetch-mode': mode },
      })

      assert.equal(response.statusCode, status)
    })
  }

  test('returns 404 outside development', async (t) => {
    const { app } = await build(t)

    const paths = [...pages, '/', '/dev/messages', '/dev/events', '/dev/inbox.js', '/dev/dev.css']
    for (const path of paths) {
      assert.equal((await app.inject(path)).statusCode, 404, path)
    }
    const emptied = await app.inject({ method: 'DELETE', url: '/dev/messages' })
    assert.equal(emptied.statusCode, 404)
  })
})

type App = Awaited<ReturnType<typeof build>>['app']

/** Resolves when a message has arrived. */
async function arrival(app: App, cause: () => PromiseLike<unknown>): Promise<void> {
  const arrived = new Promise<void>((resolve) => {
    app.devInbox?.subscribe(resolve)
  })
  await cause()
  await arrived
}
