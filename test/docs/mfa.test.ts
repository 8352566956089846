/** Runs the policies of docs/mfa.md as written with the claims of real sessions. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { suite, type TestContext, test } from 'node:test'

import { openClient } from '../support/database.ts'
import {
  addTotp,
  everyFactor,
  stepUp,
  tokenClaims,
  userWithTotp,
} from '../support/factors/factors.ts'
import { build } from '../support/server.ts'
import { signedIn, signUpUser } from '../support/users.ts'

const document = new URL('../../docs/mfa.md', import.meta.url)

suite('docs/mfa.md', () => {
  test('restricts a table to aal2 sessions', async (t) => {
    const { app, countRows } = await setUp(t)
    const before = await signUpUser(app)
    assert.equal(await countRows('payments', before), 0)
    const session = await stepUp(app, before, await addTotp(app, before))
    assert.equal(await countRows('payments', session), 1)
  })

  test('restricts a table for users with a factor only', async (t) => {
    const { app, countRows } = await setUp(t)
    assert.equal(await countRows('letters', await signUpUser(app)), 1)
    const { email, session } = await userWithTotp(app)
    assert.equal(await countRows('letters', session), 1)
    assert.equal(await countRows('letters', await signedIn(app, email)), 0)
  })
})

async function setUp(t: TestContext) {
  const { app, database } = await build(t, { env: everyFactor })
  const client = await openClient(t, database.url)
  for (const table of ['payments', 'letters']) {
    await client.query(`create table public.${table} as select 1 as amount`)
    await client.query(`alter table public.${table} enable row level security`)
    await client.query(`grant select on public.${table} to authenticated`)
    await client.query(`create policy everyone on public.${table} to authenticated using (true)`)
  }
  const text = await readFile(document, 'utf8')
  for (const [, sql = ''] of text.matchAll(/```sql\n([\s\S]*?)```/g)) await client.query(sql)

  /** Like a database REST layer: the role and the claims of the token for one transaction. */
  async function countRows(
    table: string,
    session: Parameters<typeof tokenClaims>[0],
  ): Promise<number> {
    await client.query('begin')
    const claims = JSON.stringify(tokenClaims(session))
    await client.query("select set_config('request.jwt.claims', $1, true)", [claims])
    await client.query('set local role authenticated')
    const { rows } = await client.query(`select amount from ${client.escapeIdentifier(table)}`)
    await client.query('commit')
    return rows.length
  }

  return { app, countRows }
}
