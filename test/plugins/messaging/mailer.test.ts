import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { suite, type TestContext, test } from 'node:test'

import type { FastifyInstance } from 'fastify'
import { sql } from 'kysely'

import { getEmailRetryDelay } from '../../../plugins/messaging/mailer/index.ts'
import { testConfig } from '../../support/config.ts'
import { cloneDatabase } from '../../support/database.ts'
import { buildMailApp, sampleMail } from '../../support/messages/mail-app.ts'
import { startMailServer } from '../../support/messages/mail-server.ts'
import { until } from '../../support/processes/until.ts'

const { to: user, variables } = sampleMail
suite('mail queue', () => {
  test('sends a queued email once, as text and HTML, and deletes its content', async (t) => {
    const { app, mail } = await start(t)
    const id = await queue(app)

    const { mail: message, raw } = await mail.waitFor(user)

    assert.equal(message.subject, 'Confirm your email address')
    assert.match(message.text ?? '', /123456/)
    assert.match(String(message.html), /token=5ec7e7/)
    assert.match(raw, new RegExp(`Message-ID: <${id}@example.com>`))
    const row = await inState(app, id, 'sent')
    assert.equal(row.payload, '')
    assert.equal(mail.messages.length, 1)
  })

  test('encrypts a queued email, bound to its row', async (t) => {
    const { app } = await start(t, { AUTH_SMTP_PORT: '9' })
    const id = await queue(app)

    const { payload } = await inState(app, id, 'queued')

    for (const secret of [user, '123456', '5ec7e7', 'Ada']) assert.ok(!payload.includes(secret))
    assert.match(app.encryption.decrypt(id, payload, 'it'), /ada@example\.com/)
    assert.throws(() => app.encryption.decrypt(randomUUID(), payload, 'it'))
  })

  test('sends nothing when the transaction is rolled back', async (t) => {
    const { app, mail } = await start(t)

    const rejected = app.db.transaction().execute(async (trx) => {
      await app.mailer.queue(trx, sampleMail, new Date())
      throw new Error('changed my mind')
    })

    await assert.rejects(rejected, /changed my mind/)
    await queue(app, { to: 'next@example.com' })
    await mail.waitFor('next@example.com')
    assert.equal(mail.messages.length, 1)
  })

  test('retries until the mail server is available, also after a restart', async (t) => {
    const { app, mail, restart } = await start(t)
    await mail.stop()
    const id = await queue(app)
    await until(async () => (await findRow(app, id)).attempts > 0)
    const again = await restart()
    await mail.restart()

    await mail.waitFor(user)

    const row = await inState(again, id, 'sent')
    assert.ok(row.attempts > 1)
    await settled(again)
    assert.equal(mail.messages.length, 1)
  })

  test('retries after a temporary rejection', async (t) => {
    const { app, mail } = await start(t)
    mail.behave('temporary')
    const id = await queue(app)
    const waiting = await until(async () => {
      const row = await findRow(app, id)
      return row.state === 'queued' && row.attempts > 0 ? row : undefined
    })
    mail.behave('accept')

    await mail.waitFor(user)

    assert.match(waiting.reason ?? '', /451/)
    await inState(app, id, 'sent')
  })

  test('moves an email to dead letters on a permanent rejection, without the address in the reason', async (t) => {
    const { app, mail } = await start(t)
    mail.behave('permanent')

    const row = await inState(app, await queue(app), 'dead')

    assert.match(row.reason ?? '', /550.*no such user/)
    assert.doesNotMatch(row.reason ?? '', /ada/)
    assert.equal(row.attempts, 1)
  })

  test('does not resend an email accepted without confirmation', async (t) => {
    const { app, mail } = await start(t)
    mail.behave('drop')
    const id = await queue(app)

    const row = await inState(app, id, 'dead')

    assert.match(row.reason ?? '', /^may have been delivered/)
    mail.behave('accept')
    await app.jobQueue.enqueue(app.db, 'recover_mail', {})
    await app.jobQueue.enqueue(app.db, 'send_mail', { id })
    await settled(app)
    assert.equal(mail.messages.length, 1)
  })

  test('moves an email to dead letters when the process was killed while sending', async (t) => {
    const { app, mail, restart, settings } = await start(t)
    mail.behave('silent')
    await app.close()
    const process = fork(new URL('../../support/processes/mail-process.ts', import.meta.url), {
      env: settings,
    })
    const [id] = (await once(process, 'message')) as [string]
    await mail.waitFor(user)
    process.kill('SIGKILL')
    await once(process, 'exit')
    mail.behave('accept')

    const survivor = await restart()
    await change(survivor, id, { updated_at: new Date(Date.now() - 9 * 60_000) })
    await survivor.jobQueue.enqueue(survivor.db, 'recover_mail', {})
    await settled(survivor, `mail:${id}`)
    assert.equal((await findRow(survivor, id)).state, 'sending')
    await change(survivor, id, { updated_at: new Date(Date.now() - 11 * 60_000) })
    await survivor.jobQueue.enqueue(survivor.db, 'recover_mail', {})
    await survivor.jobQueue.enqueue(survivor.db, 'send_mail', { id })

    const row = await inState(survivor, id, 'dead')
    assert.match(row.reason ?? '', /^may have been delivered: the server stopped/)
    await settled(survivor, `mail:${id}`)
    assert.equal(mail.messages.length, 1)
  })

  test('creates another job when the worker of the first one died', async (t) => {
    const { app, mail } = await start(t)
    const id = await queue(app, {}, (trx) => sql`delete from auth_jobs._private_jobs`.execute(trx))
    await change(app, id, { updated_at: new Date(Date.now() - 2 * 60_000) })

    await app.jobQueue.enqueue(app.db, 'recover_mail', {})

    await mail.waitFor(user)
    await inState(app, id, 'sent')
  })

  test('drops an email whose link has expired', async (t) => {
    const { app, mail } = await start(t)

    const row = await inState(
      app,
      await queue(app, { expiresAt: new Date(Date.now() - 1) }),
      'dead',
    )

    assert.match(row.reason ?? '', /^expired/)
    assert.equal(row.payload, '')
    assert.equal(mail.messages.length, 0)
  })

  const foreign = { key_id: 'f'.repeat(16), alg: 'aes-gcm-hkdf', data: 'AAAA', nonce: 'AAAA' }
  const queueSealed = (app: FastifyInstance, id: string, expiresAt: Date) =>
    queue(app, { messageId: id, expiresAt }, (trx) =>
      trx
        .updateTable('postern_mail_messages')
        .set({ payload: JSON.stringify(foreign) })
        .where('id', '=', id)
        .execute(),
    )

  test('postpones an email encrypted with an unknown key until a replica has the key', async (t) => {
    const { app, mail } = await start(t)
    const id = randomUUID()
    await queueSealed(app, id, new Date(Date.now() + 60_000))

    const row = await until(async () => {
      const { state, attempts, ...rest } = await findRow(app, id)
      return state === 'queued' && attempts > 0 && rest
    })
    assert.match(row.reason ?? '', /AUTH_ENCRYPTION_OLD_KEYS/)
    assert.equal(row.payload, JSON.stringify(foreign))

    const payload = JSON.stringify({ v: 1, to: user, variables })
    await change(app, id, { payload: app.encryption.encrypt(id, payload) })
    assert.equal((await mail.waitFor(user)).to, user)
  })

  test('drops an email whose link expired before it could be decrypted', async (t) => {
    const { app, mail } = await start(t)
    const id = randomUUID()
    await queueSealed(app, id, new Date(Date.now() + 1_000))

    const row = await inState(app, id, 'dead')

    assert.match(row.reason ?? '', /^expired/)
    assert.equal(mail.messages.length, 0)
  })

  test('sends an email queued before payloads had versions', async (t) => {
    const { app, mail } = await start(t)

    await queueAs(app, ({ v: _, ...payload }) => payload)

    await mail.waitFor(user)
  })

  test('moves an email stored by a later version to dead letters', async (t) => {
    const { app, mail } = await start(t)

    const row = await inState(app, await queueAs(app, (payload) => ({ ...payload, v: 2 })), 'dead')

    assert.match(row.reason ?? '', /does not know the format of its content$/)
    assert.notEqual(row.payload, '')
    assert.equal(mail.messages.length, 0)
  })

  test('sends one email for ten jobs of one message', async (t) => {
    const { app, mail } = await start(t)
    const id = randomUUID()

    await queue(app, { messageId: id }, async (trx) => {
      for (let n = 0; n < 10; n++) await app.jobQueue.enqueue(trx, 'send_mail', { id })
    })

    await mail.waitFor(user)
    await settled(app)
    assert.equal(mail.messages.length, 1)
  })

  test('removes old rows, also while the cleanup is disabled', async (t) => {
    const env = { AUTH_DB_CLEANUP_ENABLED: 'false', AUTH_DB_CLEANUP_BATCH_SIZE: '1' }
    const { app } = await start(t, env)
    const rows = [
      ['sent', 6, true],
      ['sent', 8, false],
      ['sent', 9, false],
      ['dead', 29, true],
      ['dead', 31, false],
    ] as const
    const stored: string[] = []
    for (const [state, days, stays] of rows) {
      const id = await queue(app)
      await inState(app, id, 'sent')
      await change(app, id, { state, created_at: new Date(Date.now() - days * 24 * 3600_000) })
      if (stays) stored.push(id)
    }

    await app.jobQueue.enqueue(app.db, 'remove_old_mail', {})

    await settled(app)
    const left = await app.db.selectFrom('postern_mail_messages').select('id').execute()
    assert.deepEqual(left.map(({ id }) => id).toSorted(), stored.toSorted())
  })

  const pauses = { 1: 5, 2: 10, 3: 20, 8: 640, 9: 900, 100: 900 }
  for (const [attempts, seconds] of Object.entries(pauses)) {
    test(`waits about ${seconds} s after attempt ${attempts}`, () => {
      assert.equal(getEmailRetryDelay(Number(attempts), 0.5), seconds * 1000)
      assert.equal(getEmailRetryDelay(Number(attempts), 0), seconds * 900)
    })
  }

  test('rejects queueing without a mail server', async (t) => {
    const { app } = await start(t, { AUTH_SMTP_HOST: '', AUTH_SMTP_ADMIN_EMAIL: '' })

    await assert.rejects(queue(app), { errorCode: 'email_provider_not_configured', status: 500 })
    assert.equal(app.mailer.configured, false)
  })

  test('shows emails in the development inbox without a mail server', async (t) => {
    const { app } = await start(t, { AUTH_SMTP_HOST: '', AUTH_SMTP_ADMIN_EMAIL: '' }, true)

    await inState(app, await queue(app), 'sent')

    const [message] = app.devInbox?.list() ?? []
    assert.equal(message?.to, user)
    assert.equal(message?.code, '123456')
    assert.deepEqual(message?.links, [variables.ConfirmationURL])
    assert.match(message?.html ?? '', /5ec7e7/)
  })
})

async function start(t: TestContext, env: Record<string, string> = {}, dev = false) {
  const database = await cloneDatabase()
  const mail = await startMailServer(t)
  const settings = { ...mail.env, DATABASE_URL: database.url, ...env }
  let app = await buildMailApp(testConfig(settings, dev))
  t.after(async () => {
    await app.close()
    await database.drop()
  })
  const restart = async () => {
    await app.close()
    app = await buildMailApp(testConfig(settings, dev))
    return app
  }
  return { app, mail, restart, settings }
}

type Trx = Parameters<FastifyInstance['mailer']['queue']>[0]
type Request = Partial<Parameters<FastifyInstance['mailer']['queue']>[1]>

function queue(
  app: FastifyInstance,
  request: Pick<Request, 'to' | 'expiresAt' | 'messageId'> = {},
  more: (trx: Trx) => Promise<unknown> = async () => {},
): Promise<string> {
  return app.db.transaction().execute(async (trx) => {
    const mail = { ...sampleMail, ...request }
    const id = await app.mailer.queue(trx, mail, new Date())
    await more(trx)
    return id
  })
}

/** Queues an email with the payload returned by `change`, as another release would write it. */
function queueAs(app: FastifyInstance, change: (payload: { v?: number }) => object) {
  const id = randomUUID()
  return queue(app, { messageId: id }, async (trx) => {
    const table = trx.selectFrom('postern_mail_messages').where('id', '=', id)
    const { payload } = await table.select('payload').executeTakeFirstOrThrow()
    const changed = change(JSON.parse(app.encryption.decrypt(id, payload, 'it')))
    await trx
      .updateTable('postern_mail_messages')
      .set({ payload: app.encryption.encrypt(id, JSON.stringify(changed)) })
      .where('id', '=', id)
      .execute()
  })
}

function findRow(app: FastifyInstance, id: string) {
  return app.db
    .selectFrom('postern_mail_messages')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
}

function change(app: FastifyInstance, id: string, values: object) {
  return app.db.updateTable('postern_mail_messages').set(values).where('id', '=', id).execute()
}

function inState(app: FastifyInstance, id: string, state: string) {
  return until(async () => {
    const row = await findRow(app, id)
    return row.state === state ? row : undefined
  })
}

/** No job is left except the one with a key whose worker is dead. */
function settled(app: FastifyInstance, lostKey = '') {
  return until(async () => {
    const { rows } = await app.pool.query(
      `select 1 from auth_jobs._private_jobs
      where run_at <= now() and attempts < max_attempts and key is distinct from $1`,
      [lostKey],
    )
    return rows.length === 0
  })
}
