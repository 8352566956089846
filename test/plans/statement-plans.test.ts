/** No request becomes slower because there are many users: plans of the statements that the tests of this run sent. */
import assert from 'node:assert/strict'
import { before, suite, type TestContext, test } from 'node:test'

import type pg from 'pg'

import { withClient } from '../../server/with-client.ts'
import { explainPlans, findGrowth } from '../support/plans/explain.ts'
import {
  canExtendFiles,
  createLargeDatabase,
  type LargeDatabase,
} from '../support/plans/large-database.ts'
import { type RecordedStatement, recordedStatements } from '../support/plans/recorder.ts'
import { endingOfSuite } from '../support/processes/ending.ts'

/** What may take longer the more there is, and why. */
const known = [
  // The figure of a period: as many entries of an index are read as users signed up in it.
  /^select "bucket"."at", \(select count\(\*\)::float8 as "count" from "auth"."users"/,
  // GoTrue's search of the audit log, by any part of a text: entries are read until a page is full.
  /from "auth"."audit_log_entries" where payload ->> '\w+' ilike/,
  // Before the server's own role is deleted, which is rare: whether any organization uses it.
  /^select 1 as "one" from "auth"."postern_organization/,
]

suite('plans with ten million users', () => {
  const ending = endingOfSuite()
  let database: LargeDatabase | undefined
  before(async () => {
    if (await canExtendFiles()) database = await createLargeDatabase(ending)
  })

  /** Undefined where this test's login may not extend the files of tables. */
  async function growths(t: TestContext, statements: RecordedStatement[]) {
    if (!database) return void t.skip('the login of TEST_DATABASE_URL may not run programs')
    const { url, tables } = database
    return withClient({ connectionString: url }, async (client) => {
      await client.query('set search_path to auth')
      const found: string[] = []
      for (const statement of statements) {
        const growth = new Set(
          (await plans(client, statement)).flatMap((p) => findGrowth(p, tables)),
        )
        if (growth.size > 0) found.push(`${[...growth].join(', ')}: ${statement.text}`)
      }
      return found
    })
  }

  test('are flat for each statement of a request', async (t) => {
    const statements = recordedStatements()
    assert.ok(statements.length > 0, 'run it with others: node test/run.ts test/routes test/plans')
    const found = await growths(t, statements)
    if (!found) return
    t.diagnostic(`${statements.length} statements`)
    const unknown = found.filter(
      (text) => !known.some((one) => one.test(text.replace(/^.*?: /, ''))),
    )
    assert.deepEqual(unknown, [])
  })

  const growing: Record<string, RecordedStatement> = {
    'reads all of users': {
      text: 'select id from users where last_sign_in_at < $1',
      values: ['2020-01-01'],
    },
    'sorts 10000000 rows': {
      text: 'select id from sessions order by refreshed_at limit $1',
      values: ['5'],
    },
    'costs ': { text: 'select count(last_sign_in_at) from users where is_anonymous', values: [] },
  }
  for (const [growth, statement] of Object.entries(growing)) {
    test(`reports a statement that ${growth.trim()} much`, async (t) => {
      const found = await growths(t, [statement])
      if (found) assert.match(found.join(), new RegExp(growth))
    })
  }
})

/** With the statement in the error. */
async function plans(client: pg.ClientBase, statement: RecordedStatement) {
  try {
    return await explainPlans(client, statement)
  } catch (cause) {
    throw new Error(`not explained: ${statement.text}`, { cause })
  }
}
