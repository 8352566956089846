import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { cloneDatabase } from '../support/database.ts'
import { users } from './users/command.ts'

suite('users command', () => {
  const mistakes: [string[], RegExp][] = [
    [[], /Usage/],
    [['import'], /Usage/],
    [['import', 'a.csv', 'b.csv'], /Usage/],
    [['import', 'a.csv', '--resume', '--restart'], /Usage/],
    [['import', 'people.xlsx'], /\.ndjson, \.jsonl or \.csv/],
    [['import', '/nowhere/people.csv'], /ENOENT/],
    [['export', '--format', 'xml'], /use ndjson or csv/],
    [['remove'], /Usage/],
  ]
  test('mistakes are told in a sentence', async (t) => {
    const { url } = await cloneDatabase(t)
    for (const [args, message] of mistakes) {
      const { stderr, code } = await users(url, ...args)
      assert.match(stderr, message)
      assert.equal(code, 1)
    }
  })
})
