/** The email of a sign-up: sent by the process that queued it, or by another. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { maxAttempts } from '../../../../plugins/messaging/mailer/outbox/first-attempts.ts'
import { cloneDatabase } from '../../../support/database.ts'
import { waitForIdleQueue } from '../../../support/messages/mail-journeys.ts'
import { until, untilRows } from '../../../support/processes/until.ts'
import { type App, build } from '../../../support/server.ts'
import { watchPool } from '../../../support/statements.ts'
import { adminCreatedUser, newAddress, password, signUp } from '../../../support/users.ts'

suite('email of a sign-up', () => {
  test('takes two statements and no job, and is logged with the request id', async (t) => {
    const lines: string[] = []
    const server = await build(t, { lines })
    const { app, mail } = server
    const warm = newAddress()
    await signUp(app, { email: warm })
    await mail.waitFor(warm)
    await waitForIdleQueue(server)
    await forbidJobs(app)
    const email = newAddress()
    let requestId: unknown
    const trips = await watchPool(app.pool, async () => {
      const { statusCode, headers } = await signUp(app, { email })
      assert.equal(statusCode, 200)
      requestId = headers['x-request-id']
      await mail.waitFor(email)
      await until(async () => (await states(app))[1] === 'sent')
    })
    const ofEmail = trips.flat().filter((text) => /^update.*postern_mail_messages/s.test(text))
    assert.equal(ofEmail.length, 2, ofEmail.join('\n'))
    const accepted = lines.map((line) => JSON.parse(line)).filter(isAccepted)
    assert.equal(accepted.at(-1)?.request_id, requestId)
    assert.ok(requestId)
  })

  test('is not sent to a taken email', async (t) => {
    const server = await build(t)
    const { app, mail } = server
    const { email } = await adminCreatedUser(app, {
      email: newAddress(),
      password,
      email_confirm: true,
    })
    assert.equal((await signUp(app, { email: email ?? '' })).statusCode, 200)
    const other = newAddress()
    await signUp(app, { email: other })
    await mail.waitFor(other)
    await waitForIdleQueue(server)
    assert.deepEqual(
      mail.messages.map(({ to }) => to),
      [other],
    )
  })

  test('is sent by another server when the first one stops', async (t) => {
    const database = await cloneDatabase(t)
    const first = await build(t, { database })
    const { app, mail } = first
    mail.behave('hang')
    const addresses = Array.from({ length: maxAttempts + 2 }, newAddress)
    for (const email of addresses) assert.equal((await signUp(app, { email })).statusCode, 200)
    await untilRows(async () => {
      const rows = await states(app)
      return rows.filter((state) => state === 'sending').length === maxAttempts ? rows : []
    })
    const other = await build(t, { database })
    const closing = app.close()
    for (const email of addresses.slice(maxAttempts)) await other.mail.waitFor(email)
    await mail.stop()
    await closing
    await mail.restart()
    const counts = await untilRows(async () => {
      const rows = await states(other.app)
      return rows.includes('sending') || rows.includes('queued') ? [] : rows
    })
    // The outcome of the first four is unknown.
    assert.deepEqual(counts.toSorted(), ['dead', 'dead', 'dead', 'dead', 'sent', 'sent'])
    assert.equal(other.mail.messages.length, 2)
  })
})

/** From now on the queue runs no email job. */
async function forbidJobs({ pool }: App): Promise<void> {
  await pool.query(`create function public.forbid() returns trigger language plpgsql
    as $$ begin raise 'a job for a mail'; end $$;
    create trigger forbid before insert on auth_jobs._private_jobs for each row
    when (new.key like 'mail:%') execute function public.forbid()`)
}

/** Of all emails, in the order of requests. */
async function states({ db }: App): Promise<string[]> {
  const emails = db.selectFrom('postern_mail_messages').select('state').orderBy('created_at')
  return (await emails.execute()).map(({ state }) => state)
}

const isAccepted = ({ msg }: { msg: string }): boolean => msg === 'email sent'
