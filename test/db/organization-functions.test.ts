import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'

import { runMigrations } from '../../server/migrate.ts'
import { cloneDatabase, emptyDatabase, type TestDatabase } from '../support/database.ts'
import { query } from './sql.ts'

const user = '11111111-1111-4111-8111-111111111111'
const outsider = '22222222-2222-4222-8222-222222222222'
const organization = '33333333-3333-4333-8333-333333333333'
const deleted = '44444444-4444-4444-8444-444444444444'

suite('org_id, org_role, has_permission, is_member', () => {
  let database: TestDatabase
  after(() => database.drop())
  before(async () => {
    database = await cloneDatabase()
    const times = 'now(), now()'
    await query(
      database.url,
      `insert into auth.users (id) values ('${user}'), ('${outsider}')`,
      `insert into auth.postern_organizations (id, slug, name, created_at, updated_at, deleted_at)
        values ('${organization}', 'acme', 'Acme', ${times}, null), ('${deleted}', 'old', 'Old', ${times}, now())`,
      `insert into auth.postern_organization_members
        (organization_id, user_id, role, joined_by, created_at, updated_at)
        values ('${organization}', '${user}', 'member', 'admin', ${times}),
          ('${deleted}', '${user}', 'member', 'admin', ${times})`,
    )
  })

  const as = async (claims: object, expression: string, role = 'authenticated') => {
    const values = [JSON.stringify({ role, ...claims })]
    const [row] = await query(
      database.url,
      'begin',
      `set local role ${role}`,
      { text: "select set_config('request.jwt.claims', $1, true)", values },
      `select ${expression} as value`,
    )
    return row?.value
  }

  test('read the claims of the request', async () => {
    const claims = { org_id: organization, org_role: 'editor', org_permissions: ['todos:write'] }
    assert.equal(await as(claims, 'auth.org_id()'), organization)
    assert.equal(await as(claims, 'auth.org_role()'), 'editor')
    assert.equal(await as(claims, "auth.has_permission('todos:write')"), true)
    assert.equal(await as(claims, "auth.has_permission('todos:delete')"), false)
  })

  test('read the claims of older REST APIs from a setting for each claim', async () => {
    const [row] = await query(
      database.url,
      `select set_config('request.jwt.claim.org_id', '${organization}', false),
        set_config('request.jwt.claim.org_permissions', '["todos:write"]', false)`,
      "select auth.org_id(), auth.has_permission('todos:write') as has",
    )
    assert.deepEqual(row, { org_id: organization, has: true })
  })

  test('grant an owner every permission', async () => {
    assert.equal(await as({ org_permissions: ['*'] }, "auth.has_permission('todos:write')"), true)
  })

  test('are null or false for a token without an organization', async () => {
    assert.equal(await as({ sub: user }, 'auth.org_id()'), null)
    assert.equal(await as({ sub: user }, 'auth.org_role()'), null)
    assert.equal(await as({ sub: user }, "auth.has_permission('todos:write')"), false)
  })

  test('is_member reads the current membership, also of deleted organizations', async () => {
    const isMember = (sub: string, id: string) => as({ sub }, `auth.is_member('${id}')`)
    assert.equal(await isMember(user, organization), true)
    assert.equal(await isMember(outsider, organization), false)
    assert.equal(await isMember(user, deleted), false)
    assert.equal(await as({}, `auth.is_member('${organization}')`), false)
    const suspend = (status: string) =>
      query(database.url, `update auth.postern_organization_members set status = '${status}'`)
    await suspend('suspended')
    assert.equal(await isMember(user, organization), false)
    await suspend('active')
  })

  test('is_member has a fixed search path, and the tables stay unreadable', async () => {
    const [row] = await query(
      database.url,
      "select prosecdef, proconfig from pg_proc where proname = 'is_member'",
    )
    assert.deepEqual(row, { prosecdef: true, proconfig: ['search_path=""'] })
    const read = as({ sub: user }, '(select count(*) from auth.postern_organization_members)')
    await assert.rejects(read, /permission denied/)
  })

  test('are parallel safe', async () => {
    const names = "('org_id', 'org_role', 'has_permission', 'is_member')"
    const rows = await query(
      database.url,
      `select proname from pg_proc where proname in ${names} and proparallel <> 's'`,
    )
    assert.deepEqual(rows, [])
  })
})

test('a function of the operator with the same name is kept and not granted', async (t) => {
  const { url } = await emptyDatabase(t)
  await query(
    url,
    'create schema auth',
    `create function auth.is_member(team uuid) returns boolean language sql as 'select true'`,
    'revoke execute on function auth.is_member(uuid) from public',
    `create function auth.org_id(name text) returns uuid language sql as 'select null::uuid'`,
  )
  const warnings: string[] = []

  await runMigrations({
    connectionString: url,
    schema: 'auth',
    log: { debug() {}, info() {}, warn: (message: string) => void warnings.push(message) },
  })

  const [row] = await query(
    url,
    `select prosrc, has_function_privilege('authenticated', oid, 'execute') as granted
      from pg_proc where oid = 'auth.is_member(uuid)'::regprocedure`,
  )
  assert.deepEqual(row, { prosrc: 'select true', granted: false })
  assert.ok(warnings.some((line) => /is_member\(uuid\) is not of this server/.test(line)))
  const names = await query(
    url,
    `select oid::regprocedure::text as name from pg_proc
      where pronamespace = 'auth'::regnamespace and proname in ('org_id', 'org_role') order by 1`,
  )
  assert.deepEqual(
    names.map(({ name }) => name),
    ['auth.org_id()', 'auth.org_id(text)', 'auth.org_role()'],
  )
})
