import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { cloneDatabase } from '../support/database.ts'
import { users } from './users/command.ts'

suite('users command', () => {
  const invalidCases: [string[], RegExp][] = [
    [[], /Usage/],
    [['import'], /Usage/],
    [['import', 'a.csv', 'b.csv'], /Usage/],
    [['import', 'a.csv', '--resume', '--restart'], /Usage/],
    [['import', 'users.xlsx'], /\.ndjson, \.jsonl or \.csv/],
    [['import', '/nowhere/users.csv'], /ENOENT/],
    [['export', '--format', 'xml'], /use ndjson or csv/],
    [['remove'], /Usage/],
  ]
  test('reports errors in one sentence', async (t) => {
    const { url } = await cloneDatabase(t)
    for (const [args, message] of invalidCases) {
      const { stderr, code } = await users(url, ...args)
      assert.match(stderr, message)
      assert.equal(code, 1)
    }
  })
})
