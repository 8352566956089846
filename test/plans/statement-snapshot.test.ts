/** A review sees in test/plans/statements what requests send to Postgres. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { formatStatement } from '../support/plans/format-statement.ts'
import { recordedStatements } from '../support/plans/recorder.ts'
import { findMissing, makeSnapshot, readSnapshot } from '../support/plans/snapshot.ts'
import { storeRun } from '../support/plans/statement-cache.ts'

/** Set by test/run.ts. */
const isComplete = process.env.TEST_IS_COMPLETE === 'true'
const hint = 'Review the difference, and accept it by: npm run statements'

suite('statements of requests', () => {
  const texts = recordedStatements().map(({ text }) => text)
  const recorded = makeSnapshot(texts)
  const committed = readSnapshot()

  test('are all in test/plans/statements', () => {
    if (texts.length > 0) storeRun({ isComplete, texts })
    assert.deepEqual(findMissing(recorded, committed), [], hint)
  })

  test('of test/plans/statements are still sent', (t) => {
    if (!isComplete) return t.skip('a part of the tests ran')
    assert.deepEqual(findMissing(committed, recorded), [], hint)
  })
})

suite('formatStatement', () => {
  test('begins a line at each clause, indented by its parentheses', () => {
    const text = `select "id" from "auth"."users" where "id" in (select "user_id" from "auth"."sessions") for update`
    assert.equal(
      formatStatement(text),
      [
        'select id',
        'from users',
        'where id in (',
        '  select user_id',
        '  from sessions)',
        'for update',
      ].join('\n'),
    )
  })

  test('is the same for lists of any length', () => {
    const insert = 'insert into "auth"."a" ("b", "c") values'
    assert.equal(
      formatStatement(`${insert} ($1, $2)`.replace('values', 'values ($3, $4),')),
      formatStatement(`${insert} ($1, $2), ($3, $4), ($5, $6)`),
    )
    assert.equal(formatStatement('select $1::uuid, $2::text[]'), 'select ?...')
  })

  test('keeps the text of strings', () => {
    assert.equal(formatStatement(`select 'a from b'`), `select 'a from b'`)
  })
})
