/** A table of four notes, for tests of changes that are committed together. */
import type { TestContext } from 'node:test'

import { connectWithDeadline } from '../../plugins/database/driver/deadline-connection.ts'
import { groupCommits } from '../../plugins/database/driver/group-commit.ts'
import { prepareConnections } from '../../plugins/database/driver/prepared-connection.ts'
import { createPool } from '../../plugins/database/pool/index.ts'
import { emptyDatabase, openClient } from './database.ts'
import { until } from './processes/until.ts'

export const set = 'update notes set text = $2 where id = $1 returning text'
/** The first parameter is the row, the second the seconds it takes. */
export const setSlowly =
  'update notes set text = $2 where id = $1 and pg_sleep($2::float8) is not null'
export const numbers = [1, 2, 3, 4]

/** Four rows, and a way to change them as requests do. */
export async function notes(
  t: TestContext,
  { maxDurationMs = 60_000, connections = 1, clock = (): number => 0 } = {},
) {
  const { url } = await emptyDatabase(t)
  const pool = createPool({ connectionString: url, max: connections, log: { warn() {} } })
  const other = await openClient(t, url)
  const observer = await openClient(t, url)
  t.after(() => pool.end())
  await other.query(`create table notes (id int primary key, text text);
    insert into notes select id, '' from generate_series(1, 4) as id`)
  const connect = connectWithDeadline(pool, prepareConnections())
  const runGrouped = groupCommits(connect, { maxDurationMs, clock })
  const query = (text: string, values: readonly unknown[]) => runGrouped({ text, values })

  async function readText(id: number): Promise<unknown> {
    const { rows } = await other.query('select text from notes where id = $1', [id])
    return rows[0]?.text
  }

  /** Which notes were written by the same transaction, as lists of numbers. */
  async function together(): Promise<number[][]> {
    const { rows } = await other.query(
      'select array_agg(id order by id) as ids from notes group by xmin::text order by min(id)',
    )
    return rows.map(({ ids }) => ids)
  }

  /** How many statements wait for a lock, or sleep. */
  async function untilWaiting(count: number): Promise<void> {
    await until(
      async () => {
        // Not by the locking client: a transaction sees one state of this view until it ends.
        const { rows } = await observer.query(
          `select 1 from pg_stat_activity where datname = current_database() and wait_event_type in ('Lock', 'Timeout')`,
        )
        return rows.length >= count
      },
      { everyMs: 5 },
    )
  }

  const change = async (id: number, text: string) => getTexts((await query(set, [id, text])).rows)
  const warm = () => Promise.all(numbers.map((id) => change(id, 'warm')))
  return { pool, other, query, change, warm, readText, together, untilWaiting }
}

function getTexts(rows: unknown[]): unknown[] {
  return rows.map((row) => Object(row).text)
}
