/** A table of four notes, for tests of changes that are committed together. */
import type { TestContext } from 'node:test'

import pg from 'pg'

import { nameStatements } from '../../plugins/db/named-statements.ts'
import { shareCommits } from '../../plugins/db/shared-commits.ts'
import { createPool } from '../../plugins/pool.ts'
import { withTimeLimits } from '../../plugins/request-duration/limited-pool.ts'
import { cloneDatabase } from './database.ts'
import { until } from './until.ts'

export const set = 'update notes set text = $2 where id = $1 returning text'
/** The first value is the row, the second how many seconds it takes. */
export const setSlowly =
  'update notes set text = $2 where id = $1 and pg_sleep($2::float8) is not null'
export const numbers = [1, 2, 3, 4]

/** Four notes, and a way to change them as requests do. */
export async function notes(
  t: TestContext,
  { longestMs = 60_000, connections = 1, clock = (): number => 0 } = {},
) {
  const { url } = await cloneDatabase(t)
  const pool = createPool({ connectionString: url, max: connections, log: { warn() {} } })
  const other = await connect(t, url)
  const observer = await connect(t, url)
  t.after(() => pool.end())
  await other.query(`create table notes (id int primary key, text text);
    insert into notes select id, '' from generate_series(1, 4) as id`)
  const source = withTimeLimits(pool, nameStatements())
  const { query } = await shareCommits(source, { longestMs, clock }).connect()

  async function textOf(id: number): Promise<unknown> {
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
        // Not by the client that holds it: a transaction sees one state of this view until it ends.
        const { rows } = await observer.query(
          `select 1 from pg_stat_activity where datname = current_database() and wait_event_type in ('Lock', 'Timeout')`,
        )
        return rows.length >= count
      },
      { everyMs: 5 },
    )
  }

  const change = async (id: number, text: string) => textsOf((await query(set, [id, text])).rows)
  const warm = () => Promise.all(numbers.map((id) => change(id, 'warm')))
  return { pool, other, query, change, warm, textOf, together, untilWaiting }
}

async function connect(t: TestContext, connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString })
  client.on('error', () => {})
  t.after(() => client.end())
  await client.connect()
  return client
}

function textsOf(rows: unknown[]): unknown[] {
  return rows.map((row) => Object(row).text)
}
