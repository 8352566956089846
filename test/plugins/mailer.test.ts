import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { suite, type TestContext, test } from 'node:test'

import type { FastifyInstance } from 'fastify'
import { sql } from 'kysely'

import { retryDelay } from '../../plugins/mailer/outbox/retry-delay.ts'
import { configOf } from '../support/config.ts'
import { cloneDatabase } from '../support/database.ts'
import { buildMailApp, sampleMail } from '../support/mail-app.ts'
import { startMailServer } from '../support/mail-server.ts'
import { until } from '../support/until.ts'

const { to: person, variables } = sampleMail
suite('mail queue', () => {
  test('a queued mail is sent once, in both forms, and nothing of it stays behind', async (t) => {
    const { app, mail } = await start(t)
    const id = await queue(app)

    const { mail: message, raw } = await mail.waitFor(person)

    assert.equal(message.subject, 'Confirm your email address')
    assert.match(message.text ?? '', /123456/)
    assert.match(String(message.html), /token=5ec7e7/)
    assert.match(raw, new RegExp(`Message-ID: <${id}@example.com>`))
    const row = await inState(app, id, 'sent')
    assert.equal(row.payload, '')
    assert.equal(mail.messages.length, 1)
  })

  test('a waiting mail cannot be read in the database, nor moved to another row', async (t) => {
    const { app } = await start(t, { AUTH_SMTP_PORT: '9' })
    const id = await queue(app)

    const { payload } = await inState(app, id, 'queued')

    for (const secret of [person, '123456', '5ec7e7', 'Ada']) assert.ok(!payload.includes(secret))
    assert.match(app.encryption.decrypt(id, payload, 'it'), /ada@example\.com/)
    assert.throws(() => app.encryption.decrypt(randomUUID(), payload, 'it'))
  })

  test('no commit, no mail', async (t) => {
    const { app, mail } = await start(t)

    const refused = app.db.transaction().execute(async (trx) => {
      await app.mailer.queue(trx, sampleMail, new Date())
      throw new Error('changed my mind')
    })

    await assert.rejects(refused, /changed my mind/)
    await queue(app, { to: 'next@example.com' })
    await mail.waitFor('next@example.com')
    assert.equal(mail.messages.length, 1)
  })

  test('a dead mail server delays a mail and loses none, across a restart of ours', async (t) => {
    const { app, mail, restart } = await start(t)
    await mail.stop()
    const id = await queue(app)
    await until(async () => (await rowOf(app, id)).attempts > 0)
    const again = await restart()
    await mail.restart()

    await mail.waitFor(person)

    const row = await inState(again, id, 'sent')
    assert.ok(row.attempts > 1)
    await settled(again)
    assert.equal(mail.messages.length, 1)
  })

  test('a temporary refusal is tried again', async (t) => {
    const { app, mail } = await start(t)
    mail.behave('temporary')
    const id = await queue(app)
    const waiting = await until(async () => {
      const row = await rowOf(app, id)
      return row.state === 'queued' && row.attempts > 0 ? row : undefined
    })
    mail.behave('accept')

    await mail.waitFor(person)

    assert.match(waiting.reason ?? '', /451/)
    await inState(app, id, 'sent')
  })

  test('a final refusal makes a dead letter whose reason holds no address', async (t) => {
    const { app, mail } = await start(t)
    mail.behave('permanent')

    const row = await inState(app, await queue(app), 'dead')

    assert.match(row.reason ?? '', /550.*there is nobody of this name/)
    assert.doesNotMatch(row.reason ?? '', /ada/)
    assert.equal(row.attempts, 1)
  })

  test('what was accepted without being confirmed is not sent again', async (t) => {
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

  test('a process killed while it sends leaves a dead letter, and no second mail goes out', async (t) => {
    const { app, mail, restart, settings } = await start(t)
    mail.behave('silent')
    await app.close()
    const process = fork(new URL('../support/mail-process.ts', import.meta.url), { env: settings })
    const [id] = (await once(process, 'message')) as [string]
    await mail.waitFor(person)
    process.kill('SIGKILL')
    await once(process, 'exit')
    mail.behave('accept')

    const survivor = await restart()
    await change(survivor, id, { updated_at: new Date(Date.now() - 9 * 60_000) })
    await survivor.jobQueue.enqueue(survivor.db, 'recover_mail', {})
    await settled(survivor, `mail:${id}`)
    assert.equal((await rowOf(survivor, id)).state, 'sending')
    await change(survivor, id, { updated_at: new Date(Date.now() - 11 * 60_000) })
    await survivor.jobQueue.enqueue(survivor.db, 'recover_mail', {})
    await survivor.jobQueue.enqueue(survivor.db, 'send_mail', { id })

    const row = await inState(survivor, id, 'dead')
    assert.match(row.reason ?? '', /^may have been delivered: the server stopped/)
    await settled(survivor, `mail:${id}`)
    assert.equal(mail.messages.length, 1)
  })

  test('a mail whose job died with its worker gets another', async (t) => {
    const { app, mail } = await start(t)
    const id = await queue(app, {}, (trx) => sql`delete from auth_jobs._private_jobs`.execute(trx))
    await change(app, id, { updated_at: new Date(Date.now() - 2 * 60_000) })

    await app.jobQueue.enqueue(app.db, 'recover_mail', {})

    await mail.waitFor(person)
    await inState(app, id, 'sent')
  })

  test('a mail that outlived its link is dropped', async (t) => {
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

  test('a mail sealed with a key that is not here waits until a replica has the key', async (t) => {
    const { app, mail } = await start(t)
    const id = randomUUID()
    await queueSealed(app, id, new Date(Date.now() + 60_000))

    const row = await until(async () => {
      const { state, attempts, ...rest } = await rowOf(app, id)
      return state === 'queued' && attempts > 0 && rest
    })
    assert.match(row.reason ?? '', /AUTH_ENCRYPTION_OLD_KEYS/)
    assert.equal(row.payload, JSON.stringify(foreign))

    const payload = JSON.stringify({ v: 1, to: person, variables })
    await change(app, id, { payload: app.encryption.encrypt(id, payload) })
    assert.equal((await mail.waitFor(person)).to, person)
  })

  test('a mail that nobody could decrypt while its link was good is dropped', async (t) => {
    const { app, mail } = await start(t)
    const id = randomUUID()
    await queueSealed(app, id, new Date(Date.now() + 1_000))

    const row = await inState(app, id, 'dead')

    assert.match(row.reason ?? '', /^expired/)
    assert.equal(mail.messages.length, 0)
  })

  test('a mail queued before payloads had versions is sent', async (t) => {
    const { app, mail } = await start(t)

    await queueAs(app, ({ v: _, ...payload }) => payload)

    await mail.waitFor(person)
  })

  test('a mail queued by a later version is kept as a dead letter', async (t) => {
    const { app, mail } = await start(t)

    const row = await inState(app, await queueAs(app, (payload) => ({ ...payload, v: 2 })), 'dead')

    assert.match(row.reason ?? '', /^its content has a form that this version/)
    assert.notEqual(row.payload, '')
    assert.equal(mail.messages.length, 0)
  })

  test('ten jobs for one message send one mail', async (t) => {
    const { app, mail } = await start(t)
    const id = randomUUID()

    await queue(app, { messageId: id }, async (trx) => {
      for (let n = 0; n < 10; n++) await app.jobQueue.enqueue(trx, 'send_mail', { id })
    })

    await mail.waitFor(person)
    await settled(app)
    assert.equal(mail.messages.length, 1)
  })

  test('old rows go, recent ones stay, also without the clean-up of what people leave', async (t) => {
    const env = { AUTH_DB_CLEANUP_ENABLED: 'false', AUTH_DB_CLEANUP_BATCH_SIZE: '1' }
    const { app } = await start(t, env)
    const rows = [
      ['sent', 6, true],
      ['sent', 8, false],
      ['sent', 9, false],
      ['dead', 29, true],
      ['dead', 31, false],
    ] as const
    const kept: string[] = []
    for (const [state, days, stays] of rows) {
      const id = await queue(app)
      await inState(app, id, 'sent')
      await change(app, id, { state, created_at: new Date(Date.now() - days * 24 * 3600_000) })
      if (stays) kept.push(id)
    }

    await app.jobQueue.enqueue(app.db, 'remove_old_mail', {})

    await settled(app)
    const left = await app.db.selectFrom('postern_mail_messages').select('id').execute()
    assert.deepEqual(left.map(({ id }) => id).toSorted(), kept.toSorted())
  })

  const pauses = { 1: 5, 2: 10, 3: 20, 8: 640, 9: 900, 100: 900 }
  for (const [attempts, seconds] of Object.entries(pauses)) {
    test(`after attempt ${attempts} about ${seconds} s pass`, () => {
      assert.equal(retryDelay(Number(attempts), 0.5), seconds * 1000)
      assert.equal(retryDelay(Number(attempts), 0), seconds * 900)
    })
  }

  test('without a mail server nothing is queued, and the error says so', async (t) => {
    const { app } = await start(t, { AUTH_SMTP_HOST: '', AUTH_SMTP_ADMIN_EMAIL: '' })

    await assert.rejects(queue(app), { errorCode: 'email_provider_not_configured', status: 500 })
    assert.equal(app.mailer.configured, false)
  })

  test('in development, mail without a mail server goes to the inbox', async (t) => {
    const { app } = await start(t, { AUTH_SMTP_HOST: '', AUTH_SMTP_ADMIN_EMAIL: '' }, true)

    await inState(app, await queue(app), 'sent')

    const [message] = app.devInbox?.list() ?? []
    assert.equal(message?.to, person)
    assert.equal(message?.code, '123456')
    assert.deepEqual(message?.links, [variables.ConfirmationURL])
    assert.match(message?.html ?? '', /5ec7e7/)
  })
})

async function start(t: TestContext, env: Record<string, string> = {}, dev = false) {
  const database = await cloneDatabase()
  const mail = await startMailServer(t)
  const settings = { ...mail.env, DATABASE_URL: database.url, ...env }
  let app = await buildMailApp(configOf(settings, dev))
  t.after(async () => {
    await app.close()
    await database.drop()
  })
  const restart = async () => {
    await app.close()
    app = await buildMailApp(configOf(settings, dev))
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

/** Queues a mail whose payload is what `change` makes of it, as another release would have written it. */
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

function rowOf(app: FastifyInstance, id: string) {
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
    const row = await rowOf(app, id)
    return row.state === state ? row : undefined
  })
}

/** No job is left to do, but for the one under a key, whose worker is dead. */
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
