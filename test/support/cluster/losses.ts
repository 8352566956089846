/** Compares the database with the responses that the load received. */
import { setTimeout as pause } from 'node:timers/promises'

import { query } from '../../db/sql.ts'
import { emailStates } from '../../services/journal.ts'
import type { Load } from './load.ts'

/** Acknowledged writes that are missing, by kind. */
interface Losses {
  users: number
  sessions: number
  refreshes: number
  changes: number
}

export const nothing: Losses = { users: 0, sessions: 0, refreshes: 0, changes: 0 }

/** `schema` is that of the server's tables. */
export async function findLosses(databaseUrl: string, { users }: Load, schema = 'auth') {
  const rows = await query(databaseUrl, {
    text: `select u.id is null as user_lost, s.id is null as session_lost,
        coalesce(s.refresh_token_counter, 0)::int - kept.refreshes as ahead,
        coalesce((u.raw_user_meta_data ->> 'note')::int, 0) < kept.note as change_lost
      from unnest($1::uuid[], $2::uuid[], $3::int[], $4::int[])
        with ordinality as kept (user_id, session_id, refreshes, note, position)
      left join ${schema}.users u on u.id = kept.user_id
      left join ${schema}.sessions s on s.id = kept.session_id and s.user_id = kept.user_id
      order by position`,
    values: [
      users.map(({ userId }) => userId),
      users.map(({ sessionId }) => sessionId),
      users.map(({ refreshes }) => refreshes),
      users.map(({ note }) => note),
    ],
  })
  const ahead = rows.map((row) => Number(row.ahead))
  return {
    lost: {
      users: rows.filter((row) => row.user_lost).length,
      sessions: rows.filter((row) => row.session_lost).length,
      refreshes: sum(ahead.map((by) => Math.max(0, -by))),
      changes: rows.filter((row) => row.change_lost).length,
    } satisfies Losses,
    /** Exchanges of refresh tokens beyond those that were requested. */
    exchangedTwice: sum(ahead.map((by, i) => Math.max(0, by - (users[i]?.unknown ?? 0)))),
  }
}

/** After the load has stopped. `twice` counts mails beyond one for each address. */
export async function findMailLosses(databaseUrl: string, { mailed, mail }: Load) {
  const pending = await settledMails(databaseUrl)
  const arrived = new Set(mail.messages.map(({ to }) => to))
  const missing = mailed.filter((address) => !arrived.has(address)).length
  return { lost: Math.max(0, missing - pending), twice: mail.messages.length - arrived.size }
}

/** Interrupted emails continue after minutes; the wait is for the others. */
const waitTimeoutMs = 15_000

/** Waits some time for queued emails. Returns how many requested emails are stored and not sent. */
async function settledMails(databaseUrl: string): Promise<number> {
  const end = performance.now() + waitTimeoutMs
  for (;;) {
    const jobs = await query(
      databaseUrl,
      "select from auth_jobs.jobs where task_identifier = 'answer_mail_request'",
    )
    const { sent: _sent, ...unsent } = await emailStates(databaseUrl)
    const pending = jobs.length + sum(Object.values(unsent))
    if (pending === 0 || performance.now() > end) return pending
    await pause(500)
  }
}

const sum = (counts: number[]) => counts.reduce((total, count) => total + count, 0)
