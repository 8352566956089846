/** Changes of an email depend on its state: later ones are not overwritten, and nothing is sent twice. */
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'

import { type Expression, sql } from 'kysely'

import { markAbandonedMailDead, restoreMailJobs } from '../../db/cleanup/emails.ts'
import { createDb, type Db } from '../../db/core/database.ts'
import { deleteMail, moveToDeadLetter, requeueDeadMail } from '../../db/emails/dead-letters.ts'
import {
  findQueuedEmail,
  leaseEmail,
  markEmailSent,
  requeueMailMessage,
} from '../../db/emails/messages.ts'
import type { MailMessagesTable } from '../../db/tables/messages.ts'
import { cloneDatabase, openPool } from '../support/database.ts'
import { endingOfSuite } from '../support/processes/ending.ts'

type State = MailMessagesTable['state']
type Attempt = { id: string; attempts: number }

const now = new Date('2026-05-01T12:00:00Z')
const ago = (minutes: number) => new Date(now.getTime() - minutes * 60_000)
const states: State[] = ['queued', 'sending', 'sent', 'dead']
const dead = { reason: 'no', outcome: null, keepPayload: true, emitEvent: false }

suite('email states', () => {
  const ending = endingOfSuite()
  let db: Db
  before(async () => {
    const pool = openPool({ connectionString: (await cloneDatabase(ending)).url })
    ending.after(() => pool.end())
    db = createDb(pool, 'auth')
    await sql`create table mail_jobs (id uuid); create function add_mail_job(uuid) returns void
      language sql as 'insert into public.mail_jobs values ($1)'`.execute(db)
  })

  /** Attempted twice by default. */
  async function mail(state: State, { attempts = 2, updated_at = now } = {}): Promise<Attempt> {
    const id = crypto.randomUUID()
    const times = { created_at: ago(999), updated_at, expires_at: null, sent_at: null }
    const unknown = { reason: null, user_id: null, locale: null, outcome: null, response: null }
    const row = { id, kind: 'recovery', payload: 'sealed', state, attempts, ...times, ...unknown }
    await db.insertInto('postern_mail_messages').values(row).execute()
    return { id, attempts }
  }

  const find = ({ id }: Attempt) =>
    db.selectFrom('postern_mail_messages').selectAll().where('id', '=', id).executeTakeFirst()
  const findState = async (attempt: Attempt) => (await find(attempt))?.state
  const addJob = (id: Expression<string>) => sql`public.add_mail_job(${id})`
  const countJobs = async ({ id }: Attempt) =>
    (await sql`select from public.mail_jobs where id = ${id}`.execute(db)).rows.length

  const changes: Record<
    string,
    { change: (of: Attempt) => Promise<unknown>; from: State[]; to: State | undefined }
  > = {
    'the lease of an attempt': {
      change: (of) => leaseEmail(db, of, now),
      from: ['queued'],
      to: 'sending',
    },
    'outcome: sent': {
      change: (of) => markEmailSent(db, of, '250 OK', now),
      from: ['sending', 'dead'],
      to: 'sent',
    },
    'outcome: postponed': {
      change: (of) => requeueMailMessage(db, of, 'busy', addJob, now),
      from: ['sending'],
      to: 'queued',
    },
    'outcome: dead': {
      change: (of) => moveToDeadLetter(db, of, dead, now),
      from: ['queued', 'sending'],
      to: 'dead',
    },
    'a retry by the operator': {
      change: ({ id }) => requeueDeadMail(db, id, addJob, now),
      from: ['dead'],
      to: 'queued',
    },
    'a drop by the operator': {
      change: ({ id }) => deleteMail(db, id),
      from: ['queued', 'sent', 'dead'],
      to: undefined,
    },
  }
  for (const [name, { change, from, to }] of Object.entries(changes)) {
    test(`${name} changes an email that is ${from.join(' or ')} only`, async () => {
      for (const state of states) {
        const one = await mail(state)
        await change(one)
        const isChanged = from.includes(state)
        assert.equal(await findState(one), isChanged ? to : state, state)
        assert.equal(await countJobs(one), isChanged && to === 'queued' ? 1 : 0, state)
      }
    })
  }

  test('an outcome of an earlier attempt changes nothing', async () => {
    for (const [name, { change }] of Object.entries(changes)) {
      if (!name.startsWith('word')) continue
      const { id } = await mail('sending')
      await change({ id, attempts: 1 })
      assert.equal(await findState({ id, attempts: 1 }), 'sending', name)
    }
    const { id } = await mail('queued')
    assert.equal(await leaseEmail(db, { id, attempts: 1 }, now), undefined)
  })

  test('deletes the content of a sent email', async () => {
    const one = await mail('sending')
    await markEmailSent(db, one, '250 OK', now)
    assert.equal((await find(one))?.payload, '')
    assert.equal(await findQueuedEmail(db, one.id), undefined)
  })

  test('moves an email of a dead process to dead letters after its lease', async () => {
    const [old, recent] = [
      await mail('sending', { updated_at: ago(11) }),
      await mail('sending', { updated_at: ago(9) }),
    ]
    const waiting = await mail('queued', { updated_at: ago(11) })
    const given = await markAbandonedMailDead(
      db,
      ago(10),
      { reason: 'lost', emitEvent: false },
      now,
    )
    assert.ok(given.some(({ id }) => id === old.id))
    const found = await Promise.all([old, recent, waiting].map(findState))
    assert.deepEqual(found, ['dead', 'sending', 'queued'])
  })

  test('recreates a lost job: soon for new emails, later for postponed ones', async () => {
    const overdue = { newBefore: ago(20), waitingBefore: ago(120), limit: 100 }
    const rows: [State, attempts: number, minutes: number, jobs: number][] = [
      ['queued', 0, 19, 0],
      ['queued', 0, 21, 1],
      ['queued', 1, 119, 0],
      ['queued', 1, 121, 1],
      ['sent', 1, 121, 0],
      ['dead', 1, 121, 0],
    ]
    const emails = await Promise.all(
      rows.map(([state, attempts, minutes]) => mail(state, { attempts, updated_at: ago(minutes) })),
    )
    await restoreMailJobs(db, overdue, addJob)
    assert.deepEqual(
      await Promise.all(emails.map(countJobs)),
      rows.map(([, , , jobs]) => jobs),
    )
  })
})
