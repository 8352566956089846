/** Requests in the queue that another release put there, before an upgrade or a downgrade. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

import { createEncryption } from '../../../plugins/security/encryption/index.ts'
import { nextEmail } from '../../support/messages/mail-journeys.ts'
import { buildWithSms } from '../../support/messages/phone-journeys.ts'
import { call } from '../../support/requests.ts'
import { type App, build } from '../../support/server.ts'
import { confirmedUser, newNumber, signUp } from '../../support/users.ts'

const jobs = 'auth_jobs._private_jobs'
const queued = `${jobs} where payload ->> 'request' is not null`

interface Queued {
  id: string
  payload: { v?: number; id: string; request: string; asked_at: string }
  attempts: number
  max_attempts: number
  last_error: string | null
  waits: boolean
}

suite('email requests queued by another release', () => {
  test('sends the email of a request without a version', async (t) => {
    const { server, user, since } = await requestForm(t)
    const { app } = server
    const [job] = await listJobs(app)
    assert.ok(job)
    const { v: _, ...envelope } = job.payload
    const request = JSON.parse(app.encryption.decrypt(envelope.id, envelope.request, 'a request'))
    delete request.v
    const sealed = app.encryption.encrypt(envelope.id, JSON.stringify(request))
    await replace(app, { ...envelope, request: sealed })
    const second = await nextProcess(t, server)
    assert.ok(await nextEmail(second, user.email, since))
  })

  test('retries a request of a newer version until a newer server reads it', async (t) => {
    const { server, user, since } = await requestForm(t)
    const { app } = server
    await app.pool.query(`update ${jobs} set payload = (payload::jsonb || '{"v": 2}')::json`)
    const second = await nextProcess(t, server)
    const job = await jobWith(second.app, ({ last_error }) => last_error !== null)
    assert.ok(job.attempts < job.max_attempts)
    assert.match(job.last_error ?? '', /does not know/)
    assert.equal(server.mail.messages.length, since)
    await readable(second.app)
    assert.ok(await nextEmail(second, user.email, since))
  })
})

suite('SMS requests queued by another release', () => {
  test('postpones a request of a newer version until a newer server sends it once', async (t) => {
    const server = await withRequestWaiting(t)
    const { app, sms, phone, since, requested } = server
    await app.pool.query(`update ${jobs} set payload = (payload::jsonb || '{"v": 2}')::json`)
    const { app: second } = await build(t, { env: { ...sms.env, ...toDatabaseEnv(server) } })
    const job = await jobWith(second, ({ id }) => id !== requested?.id)
    assert.ok(job.waits)
    assert.equal(job.max_attempts, 1)
    assert.equal(sms.messages.length, since)
    await readable(second)
    assert.match(await sms.code(phone, since), /^\d{6}$/)
    assert.equal(sms.messages.length, since + 1)
  })

  test('postpones a request encrypted with an unknown key until a server with the key sends it once', async (t) => {
    const server = await withRequestWaiting(t)
    const { app, sms, phone, since, requested } = server
    assert.ok(requested)
    const { id, request } = requested.payload
    const ahead = createEncryption([randomBytes(32)])
    const sealed = ahead.encrypt(id, app.encryption.decrypt(id, request, 'a request'))
    await replace(app, { ...requested.payload, request: sealed })
    const { app: second } = await build(t, { env: { ...sms.env, ...toDatabaseEnv(server) } })
    const job = await jobWith(second, (one) => one.id !== requested.id)
    assert.ok(job.waits)
    assert.equal(sms.messages.length, since)
    await replace(second, requested.payload)
    await readable(second)
    assert.match(await sms.code(phone, since), /^\d{6}$/)
    assert.equal(sms.messages.length, since + 1)
  })
})

type Ending = Parameters<typeof build>[0]
type Server = Awaited<ReturnType<typeof build>>

/** A user whose recovery request waits in the queue of a server that runs no jobs. */
async function requestForm(t: Ending) {
  const server = await build(t)
  const { user } = await confirmedUser(server)
  await server.app.jobQueue.stop()
  await call(server.app, '/recover', { email: user.email })
  return { server, user, since: server.mail.messages.length }
}

/** The same for a resent SMS. */
async function withRequestWaiting(t: Ending) {
  const server = await buildWithSms(t)
  const { app, sms } = server
  const phone = newNumber()
  await signUp(app, { phone })
  await sms.code(phone)
  await app.jobQueue.stop()
  await call(app, '/resend', { type: 'sms', phone })
  const [pending] = await listJobs(app)
  return { ...server, phone, since: sms.messages.length, requested: pending }
}

const toDatabaseEnv = ({ config }: Pick<Server, 'config'>) => ({
  DATABASE_URL: config.DATABASE_URL,
})

/** Another process on the same database and mail server. */
async function nextProcess(t: Ending, server: Server) {
  const env = { ...toDatabaseEnv(server), AUTH_SMTP_PORT: String(server.mail.port) }
  const { app } = await build(t, { env })
  return { app, mail: server.mail }
}

async function listJobs({ pool }: App): Promise<Queued[]> {
  const { rows } = await pool.query<Queued>(
    `select id, payload, attempts, max_attempts, last_error, run_at > now() as waits from ${queued}`,
  )
  return rows
}

async function jobWith(app: App, isWanted: (job: Queued) => boolean): Promise<Queued> {
  for (;;) {
    const job = (await listJobs(app)).find(isWanted)
    if (job) return job
    await sleep(15)
  }
}

async function replace({ pool }: App, payload: object): Promise<void> {
  await pool.query(`update ${jobs} set payload = $1::json`, [JSON.stringify(payload)])
}

/** As if this server supported the newer version; the job is due immediately. */
async function readable({ pool }: App): Promise<void> {
  await pool.query(
    `update ${jobs} set payload = (payload::jsonb || '{"v": 1}')::json, run_at = now()
      where payload ->> 'request' is not null`,
  )
}
