/** A database REST layer verifies the tokens of the server, assumes their role and sets their claims. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { createRemoteJWKSet, type JWTPayload, jwtVerify } from 'jose'
import type pg from 'pg'

import { openClient } from '../support/database.ts'
import { build } from '../support/server.ts'
import { adminToken, autoconfirm, signUpUser } from '../support/users.ts'

const notes = `
  create table public.notes (id serial, owner uuid not null default auth.uid(), body text not null);
  alter table public.notes enable row level security;
  create policy own on public.notes using (owner = auth.uid()) with check (owner = auth.uid());
  grant usage on schema public to anon, authenticated, service_role;
  grant all on public.notes to anon, authenticated, service_role;
  grant usage on sequence public.notes_id_seq to anon, authenticated, service_role`

suite('row-level security', () => {
  test('a user reads, writes and deletes own rows only', async (t) => {
    const { app, as } = await layer(t)
    const [ann, bob] = [await signUpUser(app), await signUpUser(app)]
    for (const { access_token } of [ann, bob]) {
      await as(access_token, `insert into notes (body) values ('of ' || auth.email())`)
    }

    for (const [me, other] of [
      [ann, bob],
      [bob, ann],
    ] as const) {
      const run = (text: string) => as(me.access_token, text)
      const mine = { owner: me.user.id, body: `of ${me.email}` }
      assert.deepEqual((await run('select owner, body from notes')).rows, [mine])
      const stolen = run(`insert into notes (owner, body) values ('${other.user.id}', 'x')`)
      await assert.rejects(stolen, /row-level security/)
      assert.equal((await run(`delete from notes where body = 'of ${other.email}'`)).rowCount, 0)
      assert.equal((await run(`update notes set body = 'changed'`)).rowCount, 1)
      await run(`update notes set body = 'of ${me.email}'`)
    }
  })

  test('the SQL functions return the claims of the token', async (t) => {
    const { app, as, verifyClaims } = await layer(t)
    const { access_token, user, email } = await signUpUser(app)
    const text = `select auth.uid() as uid, auth.role() as role, auth.email() as email, auth.jwt() as jwt`

    const [row] = (await as(access_token, text)).rows

    assert.deepEqual(row, {
      uid: user.id,
      role: 'authenticated',
      email,
      jwt: await verifyClaims(access_token),
    })
  })

  test('the SQL functions read one setting per claim, as older REST layers write them', async (t) => {
    const { app, client } = await layer(t)
    const { user } = await signUpUser(app)
    await client.query('begin; set local role authenticated')
    await client.query(`select set_config('request.jwt.claim.sub', $1, true)`, [user.id])
    const { rows } = await client.query('select auth.uid() as uid')
    await client.query('rollback')
    assert.deepEqual(rows, [{ uid: user.id }])
  })

  test('anon reads nothing, and an admin token reads all rows', async (t) => {
    const { app, client, as } = await layer(t)
    const { access_token } = await signUpUser(app)
    await as(access_token, `insert into notes (body) values ('hidden')`)

    await client.query('begin; set local role anon')
    assert.deepEqual((await client.query('select * from notes')).rows, [])
    assert.deepEqual((await client.query('select auth.uid() as uid')).rows, [{ uid: null }])
    await client.query('rollback')

    const all = await as(await adminToken(app), 'select body from notes')
    assert.deepEqual(all.rows, [{ body: 'hidden' }])
  })

  test('the auth tables are closed to token roles', async (t) => {
    const { app, as } = await layer(t)
    const { access_token } = await signUpUser(app)
    for (const table of ['users', 'sessions', 'refresh_tokens', 'one_time_tokens', 'identities']) {
      await assert.rejects(as(access_token, `select * from auth.${table}`), /permission denied/)
    }
  })
})

async function layer(t: TestContext) {
  const { app, database } = await build(t, { env: autoconfirm })
  const client = await openClient(t, database.url)
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const jwks = createRemoteJWKSet(new URL(`${url}/.well-known/jwks.json`))
  await client.query(notes)

  async function verifyClaims(token: string): Promise<JWTPayload> {
    return (await jwtVerify(token, jwks)).payload
  }

  /** One request of the layer: a transaction in the token’s role with its claims. */
  async function as(token: string, text: string): Promise<pg.QueryResult> {
    const claims = await verifyClaims(token)
    await client.query('begin')
    try {
      await client.query(`select set_config('role', $1, true)`, [claims.role])
      await client.query(`select set_config('request.jwt.claims', $1, true)`, [
        JSON.stringify(claims),
      ])
      const result = await client.query(text)
      await client.query('commit')
      return result
    } catch (error) {
      await client.query('rollback')
      throw error
    }
  }

  return { app, client, as, verifyClaims }
}
