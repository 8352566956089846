/** Account resolution at /callback: what the browser receives and what is stored. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { type ExternalServer, externalServer } from '../../support/external.ts'
import { type Row, table } from './callback-accounts/table.ts'

suite('account resolution of external identities', () => {
  test('resolves each case of the table', async (t) => {
    const server = await externalServer(t)
    for (const [title, row] of Object.entries(table)) {
      await t.test(title, () => runJourney(server, row))
    }
  })
})

let count = 100

async function runJourney(server: ExternalServer, { given, profile, ...row }: Row) {
  const id = String(++count)
  const email = `ann${id}@ex.test`
  const existing = await given?.(server, email)
  const before = await server.countUsers()

  const { status, query, fragment } = await server.signInWith('github', profile(email, id))

  assert.equal(status, 302)
  if (row.seen === 'session') {
    assert.ok(fragment.access_token, JSON.stringify(query))
    const user = await server.findUserBy({ provider: 'github', id })
    if (existing) assert.equal(user?.id, existing.id)
  } else {
    const { error = '', error_code = '' } = query
    assert.deepEqual({ error, error_code }, row.seen)
    assert.deepEqual([fragment.error, fragment.error_code], [error, error_code])
    assert.equal(fragment.access_token, undefined)
  }
  assert.equal((await server.countUsers()) - before, row.made)
  await row.stored?.(server, id, email)
}
