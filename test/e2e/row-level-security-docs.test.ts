/** Runs the SQL of docs/row-level-security.md as written with tokens of real users. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { suite, type TestContext, test } from 'node:test'

import { decodeJwt } from 'jose'

import type { Session } from '../../schemas/session.ts'
import { adminCall } from '../support/admin.ts'
import { openClient } from '../support/database.ts'
import { build } from '../support/server.ts'
import { signUp } from '../support/users.ts'

const document = new URL('../../docs/row-level-security.md', import.meta.url)

suite('docs/row-level-security.md', () => {
  test('the documented policies protect each user’s rows', async (t) => {
    const { query, enter } = await setUp(t)
    const [ann, ben] = [await enter('ann@example.com'), await enter('ben@example.com')]

    await query(ann.claims, "insert into notes (body) values ('from ann')")
    await query(ben.claims, "insert into notes (body) values ('from ben')")

    const seen = await query(ann.claims, 'select body, owner from notes')
    assert.deepEqual(seen, [{ body: 'from ann', owner: ann.claims.sub }])
    assert.deepEqual(await query(ann.claims, "update notes set body = 'x' returning id"), [])
    const forged = `insert into notes (owner, body) values ('${ben.claims.sub}', 'forged')`
    await assert.rejects(query(ann.claims, forged), /row-level security/)
    await assert.rejects(query({ role: 'anon' }, 'select body from notes'), /permission denied/)
  })

  test('service_role reads all rows, anon none', async (t) => {
    const { query, enter } = await setUp(t)
    const ann = await enter('ann@example.com')
    await query(ann.claims, "insert into notes (body) values ('from ann')")

    const seen = await query({ role: 'service_role' }, 'select body from notes')

    assert.deepEqual(seen, [{ body: 'from ann' }])
    await assert.rejects(query({ role: 'anon' }, 'select body from notes'), /permission denied/)
  })

  test('a banned user reads nothing', async (t) => {
    const { app, query, enter } = await setUp(t)
    const ann = await enter('ann@example.com')
    await query(ann.claims, "insert into notes (body) values ('from ann')")

    await adminCall(app, 'PUT', `/admin/users/${ann.claims.sub}`, { ban_duration: '1h' })

    assert.deepEqual(await query(ann.claims, 'select body from notes'), [])
  })

  test('a revoked session reads nothing', async (t) => {
    const { app, query, enter } = await setUp(t)
    const ann = await enter('ann@example.com')
    await query(ann.claims, "insert into notes (body) values ('from ann')")

    await app.inject({
      method: 'POST',
      url: '/logout',
      headers: { authorization: `Bearer ${ann.token}` },
    })

    assert.deepEqual(await query(ann.claims, 'select body from notes'), [])
  })
})

async function setUp(t: TestContext) {
  const { app, database } = await build(t, { env: { AUTH_MAILER_AUTOCONFIRM: 'true' } })
  const client = await openClient(t, database.url)
  for (const sql of await pastedStatements()) await client.query(sql)

  /** Like a database REST layer: the role and the claims of the token for one transaction. */
  async function query(claims: Record<string, unknown>, sql: string) {
    await client.query('begin')
    try {
      await client.query("select set_config('request.jwt.claims', $1, true)", [
        JSON.stringify(claims),
      ])
      await client.query(`set local role ${client.escapeIdentifier(String(claims.role))}`)
      const { rows } = await client.query(sql)
      await client.query('commit')
      return rows
    } catch (error) {
      await client.query('rollback')
      throw error
    }
  }

  async function enter(email: string) {
    const { access_token: token } = (await signUp(app, { email })).json<Session>()
    return { token, claims: decodeJwt(token) as Record<string, unknown> }
  }

  return { app, query, enter }
}

async function pastedStatements(): Promise<string[]> {
  const text = await readFile(document, 'utf8')
  const blocks = [...text.matchAll(/```sql\n([\s\S]*?)```/g)].map(([, sql]) => sql ?? '')
  return blocks.filter((sql) => !sql.includes('create role'))
}
