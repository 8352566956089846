/** What shows how much may still be sent, and what waits in the queue because that is used up. */
import { createdPerson, newAddress, password } from '../support/people.ts'
import type { Built } from '../support/server.ts'
import { until } from '../support/until.ts'

type Queue = Pick<Built, 'app' | 'config'>

/** Somebody who is there without a mail having been sent. Returns the address. */
export async function insertPerson({ app }: Built, confirmed = true): Promise<string> {
  const email = newAddress()
  await createdPerson(app, { email, password, email_confirm: confirmed })
  return email
}

/** How many messages may still be sent; undefined where none was counted yet. */
export async function left(
  { app }: Pick<Built, 'app'>,
  channel = 'email',
): Promise<number | undefined> {
  const row = await app.db
    .selectFrom('postern_send_quotas')
    .select('tokens')
    .where('channel', '=', channel)
    .executeTakeFirst()
  return row?.tokens
}

const jobsOf = ({ config }: Queue) => `${config.AUTH_DB_NAMESPACE}_jobs._private_jobs`

/** True of the jobs that answer a request for a mail, or for a code by text message. */
const isRequest = `payload ->> 'request' is not null`

/** The time of the requests that were put off, once there are so many and nothing else waits. */
export async function putOffUntil(server: Queue, count = 1): Promise<Date> {
  const requests = `${jobsOf(server)} where ${isRequest}`
  const jobs = `select run_at from ${requests} and run_at > now() + interval '1 minute'
    and (select count(*) from ${requests} and run_at < now() + interval '1 minute') = 0`
  return until(
    async () => {
      const { rows } = await server.app.pool.query<{ run_at: Date }>(jobs)
      return rows.length === count && rows[0]?.run_at
    },
    { everyMs: 20, missing: 'no job was put off' },
  )
}

/** As if two hours had gone by: the quota is filled again, and what was put off is due. */
export async function letHoursPass(server: Queue): Promise<void> {
  const { app } = server
  await app.pool.query(`update auth.postern_send_quotas set refilled_at = now() - interval '2h'`)
  await app.pool.query(`update ${jobsOf(server)} set run_at = now() where ${isRequest}`)
  await app.jobQueue.enqueue(app.db, 'clean_up', {})
}

/** Once no request waits in the queue. */
export async function untilAnswered(server: Queue): Promise<void> {
  const waiting = `select from ${jobsOf(server)} where ${isRequest}`
  const isDone = async () => (await server.app.pool.query(waiting)).rows.length === 0
  await until(isDone, { everyMs: 20, missing: 'the queue is not done' })
}
