import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'

import { cloneDatabase, type TestDatabase } from '../support/database.ts'
import { query } from './sql.ts'

const ada = '11111111-1111-4111-8111-111111111111'
const bob = '22222222-2222-4222-8222-222222222222'
const claims = (sub: string) => ({ sub, role: 'authenticated', email: 'ada@example.com' })

suite('uid, role, email, jwt', () => {
  let database: TestDatabase
  let url: string
  after(() => database.drop())
  before(async () => {
    database = await cloneDatabase()
    url = database.url
  })

  const unknown = { uid: null, role: null, email: null, jwt: null }
  const user = { uid: ada, role: 'authenticated', email: 'ada@example.com' }
  const cases: Record<string, { settings: Record<string, string>; expected: object }> = {
    'are null without settings': { settings: {}, expected: unknown },
    'are null with the empty settings of a pooled connection': {
      settings: {
        'request.jwt.claims': '',
        'request.jwt.claim.sub': '',
        'request.jwt.claim.role': '',
        'request.jwt.claim.email': '',
        'request.jwt.claim': '',
      },
      expected: unknown,
    },
    'read one JSON setting': {
      settings: { 'request.jwt.claims': JSON.stringify(claims(ada)) },
      expected: { ...user, jwt: claims(ada) },
    },
    'prefer a setting for each claim to the JSON setting': {
      settings: {
        'request.jwt.claims': JSON.stringify({ ...claims(bob), role: 'anon', email: 'b@b.b' }),
        'request.jwt.claim.sub': ada,
        'request.jwt.claim.role': 'authenticated',
        'request.jwt.claim.email': 'ada@example.com',
        'request.jwt.claim': '{"the": "older"}',
      },
      expected: { ...user, jwt: { the: 'older' } },
    },
    'are null for claims without their keys': {
      settings: { 'request.jwt.claims': '{"aud": "x"}' },
      expected: { ...unknown, jwt: { aud: 'x' } },
    },
    'have no uid for a token without a subject': {
      settings: { 'request.jwt.claims': '{"sub": "", "role": "service_role"}' },
      expected: { ...unknown, role: 'service_role', jwt: { sub: '', role: 'service_role' } },
    },
  }
  for (const [name, { settings, expected }] of Object.entries(cases)) {
    test(name, async () => {
      const set = Object.entries(settings).map((values) => ({
        text: 'select set_config($1, $2, false)',
        values,
      }))
      const [row] = await query(
        url,
        ...set,
        'select auth.uid(), auth.role(), auth.email(), auth.jwt()',
      )
      assert.deepEqual(row, expected)
    })
  }

  test('are stable, so that a policy calls them once', async () => {
    const rows = await query(
      url,
      `select proname from pg_proc where pronamespace = 'auth'::regnamespace and provolatile <> 's'`,
    )
    assert.deepEqual(rows, [])
  })
})

suite('policy with uid()', () => {
  let database: TestDatabase
  let url: string
  after(() => database.drop())
  before(async () => {
    database = await cloneDatabase()
    url = database.url
    await query(
      url,
      'create table notes (owner uuid not null, body text not null)',
      `insert into notes values ('${ada}', 'of Ada'), ('${bob}', 'of Bob')`,
      'alter table notes enable row level security',
      `create policy own on notes for all to authenticated using (owner = auth.uid())
        with check (owner = auth.uid())`,
      'grant select, insert on notes to anon, authenticated, service_role',
    )
  })

  /** As a database REST layer runs a request: in a transaction, with the token's role and claims. */
  const as = (role: string, sub: string | undefined, statement: string) =>
    query(
      url,
      'begin',
      `set local role ${role}`,
      {
        text: `select set_config('request.jwt.claims', $1, true)`,
        values: [JSON.stringify({ role, sub })],
      },
      statement,
    )

  const list = 'select body from notes order by body'
  const cases: [string, string | undefined, object[]][] = [
    ['authenticated', ada, [{ body: 'of Ada' }]],
    ['authenticated', bob, [{ body: 'of Bob' }]],
    ['authenticated', '33333333-3333-4333-8333-333333333333', []],
    ['authenticated', undefined, []],
    ['anon', undefined, []],
    ['anon', ada, []],
    ['service_role', undefined, [{ body: 'of Ada' }, { body: 'of Bob' }]],
  ]
  for (const [role, sub, expected] of cases) {
    test(`${role} ${sub ? `with subject ${sub}` : 'without a subject'} reads ${expected.length} rows`, async () => {
      assert.deepEqual(await as(role, sub, list), expected)
    })
  }

  test('rejects writes for another user', async () => {
    const write = as('authenticated', ada, `insert into notes values ('${bob}', 'forged')`)
    await assert.rejects(write, /row-level security/)
  })

  for (const role of ['anon', 'authenticated', 'service_role']) {
    test(`${role} cannot read the auth tables`, async () => {
      await assert.rejects(as(role, ada, 'select * from auth.users'), /permission denied/)
    })
  }
})
