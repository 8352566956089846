/** Email requests between the response and the job that looks the user up. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { pkcePair, waitForIdleQueue } from '../../support/messages/mail-journeys.ts'
import { call } from '../../support/requests.ts'
import { build } from '../../support/server.ts'
import { confirmedUser, newAddress } from '../../support/users.ts'

suite('queued email requests', () => {
  test('encrypts the queued request', async (t) => {
    const { app, config } = await build(t)
    await app.jobQueue.stop()
    const email = newAddress('secret')
    const fields = pkcePair().fields
    assert.equal((await call(app, '/otp', { email, ...fields })).statusCode, 200)
    const table = `${config.AUTH_DB_NAMESPACE}_jobs._private_jobs`
    const { rows } = await app.pool.query(
      `select * from ${table} where payload ->> 'request' is not null`,
    )
    assert.equal(rows.length, 1)
    const text = JSON.stringify(rows)
    assert.ok(!text.includes('secret') && !text.includes(fields.code_challenge))
  })

  test('drops a request older than the lifetime of a link and logs it', async (t) => {
    const lines: string[] = []
    const server = await build(t, { lines })
    const { app, config, mail } = server
    const { user } = await confirmedUser(server)
    await app.jobQueue.stop()
    await call(app, '/recover', { email: user.email })
    const since = mail.messages.length
    await app.pool.query(
      `update ${config.AUTH_DB_NAMESPACE}_jobs._private_jobs
        set payload = jsonb_set(payload::jsonb, '{asked_at}', '"2020-01-01T00:00:00Z"')::json
        where payload ->> 'request' is not null`,
    )
    const second = await build(t, {
      lines,
      env: { DATABASE_URL: config.DATABASE_URL, AUTH_SMTP_PORT: String(mail.port) },
    })
    await waitForIdleQueue({ ...second, config })
    assert.equal(mail.messages.length, since)
    const dropped = lines.filter((line) => line.includes('email request dropped'))
    assert.equal(dropped.length, 1)
    assert.ok(!dropped[0]?.includes(user.email))
  })

  test('sends one email when the job runs twice', async (t) => {
    const server = await build(t)
    const { app, config, mail } = server
    const { user } = await confirmedUser(server)
    await app.jobQueue.stop()
    await call(app, '/recover', { email: user.email })
    const jobs = `${config.AUTH_DB_NAMESPACE}_jobs`
    const { rows } = await app.pool.query<{ payload: object }>(
      `select payload from ${jobs}._private_jobs where payload ->> 'request' is not null`,
    )
    const again = JSON.stringify(rows[0]?.payload)
    await app.pool.query(`select ${jobs}.add_job('answer_mail_request', $1::json)`, [again])
    const since = mail.messages.length
    // The other process that picks the work up.
    const second = await build(t, {
      env: { DATABASE_URL: config.DATABASE_URL, AUTH_SMTP_PORT: String(mail.port) },
    })
    await waitForIdleQueue({ ...second, config })
    assert.equal(mail.messages.length - since, 1)
  })
})
