/** Arguments and environment of the backup programs; test/services runs them. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { addressForPrograms, runProgram } from '../../cli/backup/programs.ts'

const secret = 'p#ss wörd'
const encoded = encodeURIComponent(secret)

/** Both are places where `pg` and libpq look for it. */
const urls: Record<string, string> = {
  'before the host of the URL': `postgres://postern:${encoded}@db.test/postern?sslmode=require`,
  'among the parameters of the URL': `postgres://postern@db.test/postern?password=${encoded}&sslmode=require`,
  'at the end of the parameters of the URL': `postgres://postern@db.test/postern?sslmode=require&password=${encoded}`,
}

suite('database password for backup programs', () => {
  for (const [place, url] of Object.entries(urls)) {
    test(`is passed in the environment and in no argument when it is ${place}`, async () => {
      const bare = 'postgres://postern@db.test/postern?sslmode=require'
      assert.equal(addressForPrograms(url), bare)
      const output = await runProgram(process.execPath, url, ['-p', 'process.env.PGPASSWORD'])
      assert.equal(output.trim(), secret)
    })
  }

  test('keeps a URL without a password', () => {
    const url = 'postgres://postern@%2Fvar%2Frun/postern?options=-c%20search_path%3Dauth'
    assert.equal(addressForPrograms(url), url)
  })

  const parameters: Record<string, string> = {
    // GoTrue's own address names its schema so.
    'search_path=auth&sslmode=disable': 'sslmode=disable',
    'pgbouncer=true&statement_timeout=5000&application_name=my%20app': 'application_name=my%20app',
    'options=-csearch_path=auth': 'options=-csearch_path%3Dauth',
    'sslmode=no-verify': 'sslmode=require',
  }
  for (const [given, understood] of Object.entries(parameters)) {
    test(`replaces the parameters ${given} by those that the programs support`, () => {
      const address = 'postgres://postern@db.test/postern'
      assert.equal(addressForPrograms(`${address}?${given}`), `${address}?${understood}`)
    })
  }
})
