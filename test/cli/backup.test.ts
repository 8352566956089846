/** What the programs that write and read backups are given; that they do it is for test/services. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { runProgram, withoutPassword } from '../../cli/backup/programs.ts'

const secret = 'p#ss wörd'
const encoded = encodeURIComponent(secret)

/** Both are places where `pg` and libpq look for it. */
const urls: Record<string, string> = {
  'before the host': `postgres://postern:${encoded}@db.test/postern?sslmode=require`,
  'among the parameters': `postgres://postern@db.test/postern?password=${encoded}&sslmode=require`,
  'at the end of the parameters': `postgres://postern@db.test/postern?sslmode=require&password=${encoded}`,
}

suite('the password of the database', () => {
  for (const [place, url] of Object.entries(urls)) {
    test(`${place}: in the environment of the program, and in no argument`, async () => {
      const bare = 'postgres://postern@db.test/postern?sslmode=require'
      assert.equal(withoutPassword(url), bare)
      const said = await runProgram(process.execPath, url, ['-p', 'process.env.PGPASSWORD'])
      assert.equal(said.trim(), secret)
    })
  }

  test('an address without one stays as it is', () => {
    const url = 'postgres://postern@%2Fvar%2Frun/postern?options=-c%20search_path%3Dauth'
    assert.equal(withoutPassword(url), url)
  })
})
