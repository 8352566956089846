/** Helpers that show the remaining send quota and the requests that wait for it. */
import { until } from '../../support/processes/until.ts'
import type { Built } from '../../support/server.ts'
import { adminCreatedUser, newAddress, password } from '../../support/users.ts'

type Queue = Pick<Built, 'app' | 'config'>

/** A user created without sending an email. Returns the email. */
export async function insertUser({ app }: Built, confirmed = true): Promise<string> {
  const email = newAddress()
  await adminCreatedUser(app, { email, password, email_confirm: confirmed })
  return email
}

/** A server that other tests have used, as if it had sent no messages. */
export async function withFullQuotas(server: Built): Promise<Built> {
  await server.app.pool.query('delete from auth.postern_send_quotas')
  return server
}

/** Remaining messages of this purpose; undefined before the first one. */
export async function left(
  { app }: Pick<Built, 'app'>,
  key = 'email signup',
): Promise<number | undefined> {
  const row = await app.db
    .selectFrom('postern_send_quotas')
    .select('tokens')
    .where('channel', '=', key)
    .executeTakeFirst()
  return row?.tokens
}

const getJobsTable = ({ config }: Queue) => `${config.AUTH_DB_NAMESPACE}_jobs._private_jobs`

/** Selects jobs that handle a request for an email or an SMS code. */
const isRequest = `payload ->> 'request' is not null`

/** The time of the postponed requests, once there are so many and no other job waits. */
export async function postponedUntil(server: Queue, count = 1): Promise<Date> {
  const requests = `${getJobsTable(server)} where ${isRequest}`
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

/** As if two hours had passed: the quota is refilled and postponed jobs are due. */
export async function advanceHours(server: Queue): Promise<void> {
  const { app } = server
  await app.pool.query(`update auth.postern_send_quotas set refilled_at = now() - interval '2h'`)
  await app.pool.query(`update ${getJobsTable(server)} set run_at = now() where ${isRequest}`)
  await app.jobQueue.enqueue(app.db, 'clean_up', {})
}

/** Once no request waits in the queue. */
export async function untilResponded(server: Queue): Promise<void> {
  const waiting = `select from ${getJobsTable(server)} where ${isRequest}`
  const isDone = async () => (await server.app.pool.query(waiting)).rows.length === 0
  await until(isDone, { everyMs: 20, missing: 'the queue is not done' })
}
