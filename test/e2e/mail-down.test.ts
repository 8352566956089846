/** The mail server is unreachable when a user signs up: only the email is delayed. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { cloneDatabase } from '../support/database.ts'
import { open, waitForIdleQueue } from '../support/messages/mail-journeys.ts'
import { codeIn } from '../support/messages/mail-links.ts'
import { startMailServer } from '../support/messages/mail-server.ts'
import { untilRows } from '../support/processes/until.ts'
import { verify } from '../support/requests.ts'
import { type App, build } from '../support/server.ts'
import { signUp } from '../support/users.ts'

const email = 'ann@example.com'

suite('unreachable mail server', { concurrency: 2 }, () => {
  test('delays the email without changing responses, and its link is valid', async (t) => {
    const { mail, env } = await withoutMailServer(t)
    const server = await build(t, { env })
    const { app } = server
    const before = await signUp(app, { email: 'before@example.com' })
    await mail.stop()

    const response = await signUp(app, { email })
    await attempted(app)
    assert.equal(response.statusCode, before.statusCode)
    assert.deepEqual(Object.keys(response.json()), Object.keys(before.json()))
    assert.ok(response.json().confirmation_sent_at)
    await mail.restart()

    const message = await mail.waitFor(email)
    const opened = await open(app, message)
    assert.match(String(opened.headers.location), /#access_token=/)
    await waitForIdleQueue(server)
    assert.equal(mail.messages.filter(({ to }) => to === email).length, 1)
  })

  test('delays the email across a server restart', async (t) => {
    const { mail, env } = await withoutMailServer(t)
    const first = await build(t, { env })
    await mail.stop()
    assert.equal((await signUp(first.app, { email })).statusCode, 200)
    await attempted(first.app)
    await first.app.close()
    await mail.restart()
    assert.equal(mail.messages.length, 0)

    const second = await build(t, { env })

    const token = codeIn(await mail.waitFor(email))
    const verified = await verify(second.app, { type: 'signup', email, token })
    assert.equal(verified.statusCode, 200, verified.body)
    await waitForIdleQueue(second)
    assert.equal(mail.messages.length, 1)
  })
})

/** A database and a mail server for several servers of the test. */
async function withoutMailServer(t: TestContext) {
  const mail = await startMailServer(t)
  const database = await cloneDatabase(t)
  return { mail, env: { ...mail.env, DATABASE_URL: database.url } }
}

/** Waits until sending the email has failed. */
async function attempted(app: App): Promise<void> {
  await untilRows(async () => {
    const rows = await app.db.selectFrom('postern_mail_messages').select('attempts').execute()
    return rows.filter(({ attempts }) => attempts > 0)
  })
}
