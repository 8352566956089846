import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'

import { sql } from 'kysely'

import type { User } from '../../../schemas/user.ts'
import { asAdmin } from '../../support/admin.ts'
import { endingOfSuite } from '../../support/processes/ending.ts'
import { type App, build } from '../../support/server.ts'
import { adminCreatedUser, adminToken } from '../../support/users.ts'

interface List {
  users: User[]
  aud: string
  next_cursor?: string
  pagination?: { next_cursor?: string; has_more: boolean }
}

const accounts = 25

suite('GET /admin/users', () => {
  const ending = endingOfSuite()
  let app: App
  let url: string
  before(async () => {
    const built = await build(ending, { env: { AUTH_JWT_ALLOWED_AUDIENCES: 'others, many, deep' } })
    app = built.app
    url = built.database.url
    // A microsecond apart, and each fifth at the same time: times alone do not order them.
    await sql`
      insert into auth.users (instance_id, id, aud, email, phone, raw_user_meta_data, created_at, updated_at)
      select '00000000-0000-0000-0000-000000000000', gen_random_uuid(), 'authenticated',
        format('member-%s@example.com', to_char(i, 'FM00')), '4930' || 1000 + i,
        jsonb_build_object('full_name',
          case when i = 3 then 'İbrahim' when i % 2 = 0 then 'Élodie' else 'Bo_b' end || ' ' || i),
        timestamptz '2026-01-01' + interval '1 microsecond' * (i / 5), now()
      from generate_series(1, ${accounts}::int) i`.execute(app.db)
  })

  test('pages through each user once, newest first', async () => {
    const seen: string[] = []
    const links = []
    for (let page = 1; page <= 7; page++) {
      const response = await list(`page=${page}&per_page=4`)
      assert.equal(response.headers['x-total-count'], `${accounts}`)
      assert.equal(response.headers['x-total-count-precision'], 'exact')
      links.push(response.headers.link)
      for (const user of response.json<List>().users) seen.push(user.id)
    }
    assert.equal(new Set(seen).size, accounts)
    assert.equal(
      links[0],
      '</admin/users?page=2&per_page=4>; rel="next", </admin/users?page=7&per_page=4>; rel="last"',
    )
    assert.equal(links[6], '</admin/users?page=7&per_page=4>; rel="last"')
    const ascending = await listAllUsers('sort=created_at+asc')
    assert.deepEqual(ascending.reverse(), seen)
  })

  test('omits identities and factors', async () => {
    const { users, aud } = (await list('per_page=1')).json<List>()
    assert.equal(aud, 'authenticated')
    assert.equal(users[0]?.identities, null)
    assert.equal(users[0]?.factors, undefined)
  })

  test('returns an empty page with the total behind the last page', async () => {
    const response = await list('page=9&per_page=10')
    assert.deepEqual(response.json<List>().users, [])
    assert.equal(response.headers['x-total-count'], `${accounts}`)
    assert.equal(response.headers.link, '</admin/users?page=3&per_page=10>; rel="last"')
  })

  test('returns no pages for an empty result', async () => {
    const response = await list('filter=no-such-name')
    assert.equal(response.headers['x-total-count'], '0')
    assert.match(String(response.headers.link), /page=0&per_page=50>; rel="last"$/)
  })

  test('pages by cursor through each user once, also users created at the same time', async () => {
    for (const sort of ['created_at desc', 'created_at asc']) {
      const seen: string[] = []
      let cursor = ''
      do {
        const response: List = (await list(`limit=3&sort=${sort}&cursor=${cursor}`)).json()
        seen.push(...response.users.map(({ id }) => id))
        cursor = response.next_cursor ?? ''
      } while (cursor)
      assert.deepEqual(seen, await listAllUsers(`sort=${sort}`))
    }
  })

  test('returns the pagination of GoTrue in pages by cursor', async () => {
    const first = await list('limit=20')
    const { pagination, next_cursor } = first.json<List>()
    assert.ok(next_cursor)
    assert.deepEqual(pagination, { next_cursor, has_more: true })
    assert.equal(first.headers.link, `</admin/users?cursor=${next_cursor}&limit=20>; rel="next"`)
    const last = await list(`limit=20&cursor=${next_cursor}`)
    assert.deepEqual(last.json<List>().pagination, { has_more: false })
    assert.equal(last.headers.link, undefined)
    assert.equal((await list('limit=5000')).json<List>().users.length, accounts)
    assert.equal((await list('limit=0')).statusCode, 400)
    assert.equal((await list('cursor=x')).statusCode, 400)
  })

  test('pages by cursor without a limit where the setting asks for it', async () => {
    const env = { AUTH_EXPERIMENTAL_CURSOR_PAGINATION_ENABLED: 'true' }
    const { app: other } = await build(ending, { env: { ...env, DATABASE_URL: url } })
    const read = (query: string) => asAdmin(other, 'GET', `/admin/users${query}`)
    const response = await read('')
    assert.deepEqual(response.json<List>().pagination, { has_more: false })
    assert.equal(response.headers['x-total-count'], undefined)
    for (const query of ['?page=1', '?per_page=10']) {
      const numbered = await read(query)
      assert.equal(numbered.json<List>().pagination, undefined)
      assert.equal(numbered.headers['x-total-count'], `${accounts}`)
    }
  })

  const searches: [string, number][] = [
    ['q=member-07', 1],
    ['q=MEMBER-07@EXAMPLE.COM', 1],
    ['q=ember-0', 9],
    ['q=member-07@example', 1],
    ['q=@example.com', accounts],
    ['q=+493 01007', 1],
    ['q=me', accounts],
    ['q=er', 0],
    ['q=+49 30 1007', 1],
    ['q=49301', accounts],
    ['q=301007', 1],
    ['q=élodie 4', 1],
    ['q=İbrahim', 1],
    ['q=bo_b 1', 6],
    ['q=bo%25b', 0],
    ['q=boxb', 0],
    [String.raw`q=bo\_b`, 0],
    ['q=@@', 0],
    ['q=', accounts],
    ['filter=member-07', 1],
    ['filter=MEMBER-07', 0],
    ['filter=élodie 4', 1],
    ['filter=İbrahim', 1],
    ['filter=%25', 0],
  ]
  for (const [query, found] of searches) {
    test(`returns ${found} for ${query}`, async () => {
      const url = `/admin/users?${query.replaceAll('+', '%2B')}`
      const response = await asAdmin(app, 'GET', url)
      assert.equal(response.json<List>().users.length, found)
      assert.equal(response.headers['x-total-count'], `${found}`)
    })
  }

  test('finds a user by id', async () => {
    const [id = ''] = await listAllUsers('')
    const { users } = (await list(`q=${id}`)).json<List>()
    assert.deepEqual(
      users.map((user) => user.id),
      [id],
    )
  })

  test('lists users of the requested audience only', async () => {
    await adminCreatedUser(app, { email: 'else@example.com', aud: 'others' })
    const { authorization } = await headers()
    const others = await app.inject({
      url: '/admin/users',
      headers: { authorization, 'x-jwt-aud': 'others' },
    })
    const { users, aud } = others.json<List>()
    assert.deepEqual([users.length, aud], [1, 'others'])
    assert.equal((await list('')).headers['x-total-count'], `${accounts}`)
  })

  test('estimates totals above the counting limit and marks them as estimates', async () => {
    await sql`insert into auth.users (instance_id, id, aud, created_at)
      select '00000000-0000-0000-0000-000000000000', gen_random_uuid(), 'many', now()
      from generate_series(1, 12000)`.execute(app.db)
    await sql`analyze auth.users`.execute(app.db)
    const { authorization } = await headers()
    const many = { authorization, 'x-jwt-aud': 'many' }
    const response = await app.inject({ url: '/admin/users?per_page=1', headers: many })
    assert.equal(response.headers['x-total-count-precision'], 'estimate')
    const reported = Number(response.headers['x-total-count'])
    assert.ok(reported > 10_000 && reported < 13_000, `${reported}`)
    // Of their own audience, however many others there are.
    const few = await app.inject({ url: '/admin/users?per_page=1', headers: await headers() })
    assert.equal(few.headers['x-total-count-precision'], 'estimate')
    const estimateOfFew = Number(few.headers['x-total-count'])
    assert.ok(estimateOfFew > accounts / 2 && estimateOfFew < 2 * accounts, `${estimateOfFew}`)
    const last = await app.inject({ url: '/admin/users?page=1200&per_page=10', headers: many })
    assert.equal(last.json<List>().users.length, 10)
    assert.equal(last.headers['x-total-count'], '12000')
    assert.equal(last.headers['x-total-count-precision'], 'exact')
  })

  test('continues after the previous page despite added and deleted users when totals are estimates', async () => {
    await sql`insert into auth.users (instance_id, id, aud, created_at)
      select '00000000-0000-0000-0000-000000000000', gen_random_uuid(), 'deep', now() - i * interval '1 s'
      from generate_series(1, 10040) i`.execute(app.db)
    const { authorization } = await headers()
    const page = (number: number) =>
      app.inject({
        url: `/admin/users?page=${number}&per_page=10`,
        headers: { authorization, 'x-jwt-aud': 'deep' },
      })
    const ids = async (number: number) =>
      (await page(number)).json<List>().users.map(({ id }) => id)
    const [near, far, next, last] = [
      await ids(3),
      await ids(1002),
      await ids(1003),
      await ids(1004),
    ]
    assert.equal(new Set([...near, ...far, ...next, ...last]).size, 40)

    await sql`insert into auth.users (instance_id, id, aud, created_at) values
      ('00000000-0000-0000-0000-000000000000', gen_random_uuid(), 'deep', now())`.execute(app.db)
    await sql`delete from auth.users where id = any(${near})`.execute(app.db)

    assert.deepEqual(await ids(1003), next)
    const end = await page(1004)
    assert.deepEqual(
      end.json<List>().users.map(({ id }) => id),
      last,
    )
    assert.equal(end.headers['x-total-count-precision'], 'estimate')
  })

  test('estimates the total of large searches and counts small searches', async () => {
    const { authorization } = await headers()
    const found = async (query: string, aud: string) => {
      const url = `/admin/users?${query}`
      const response = await app.inject({ url, headers: { authorization, 'x-jwt-aud': aud } })
      const { 'x-total-count': count, 'x-total-count-precision': precision } = response.headers
      return [response.json<List>().users.length, Number(count), precision]
    }
    assert.deepEqual(await found('q=member-0', 'authenticated'), [9, 9, 'exact'])
    const [length, count, precision] = await found('q=member-&per_page=10', 'authenticated')
    assert.deepEqual([length, precision], [10, 'estimate'])
    assert.ok(Number(count) >= 11)
    assert.deepEqual(await found('q=member-&per_page=10&page=3', 'authenticated'), [5, 25, 'exact'])
  })

  const invalidCases = [
    'page=-1',
    'page=two',
    'page=1.5',
    'page=99999999999999999999',
    'per_page=0',
    'per_page=1001',
    'per_page=many',
    'limit=0',
    'cursor=nonsense',
    `cursor=${Buffer.from("2026-01-01' or true").toString('base64url')}`,
    `cursor=${Buffer.from(`9999999999999999 ${crypto.randomUUID()}`).toString('base64url')}`,
    'sort=email asc',
    'sort=created_at sideways',
    `q=${'x'.repeat(256)}`,
  ]
  for (const query of invalidCases) {
    test(`rejects ${query.slice(0, 40)}`, async () => {
      const response = await list(query)
      assert.deepEqual(
        [response.statusCode, response.json().error_code],
        [400, 'validation_failed'],
        response.body,
      )
    })
  }

  test('treats page 0 as page 1, as GoTrue does', async () => {
    const [zero, first] = [await list('page=0&per_page=4'), await list('page=1&per_page=4')]
    assert.equal(zero.body, first.body)
    assert.equal(zero.headers.link, first.headers.link)
  })

  test('sorts descending by default', async () => {
    assert.deepEqual(
      await listAllUsers('sort=created_at'),
      await listAllUsers('sort=created_at desc'),
    )
  })

  test('treats empty parameters as missing', async () => {
    const response = await list('page=&per_page=&sort=&filter=&limit=&cursor=')
    assert.equal(response.json<List>().users.length, accounts)
  })

  function list(query: string) {
    return asAdmin(app, 'GET', `/admin/users?${query}`)
  }

  async function listAllUsers(query: string): Promise<string[]> {
    const { users } = (await list(`per_page=1000&${query}`)).json<List>()
    return users.map(({ id }) => id)
  }

  async function headers() {
    return { authorization: `Bearer ${await adminToken(app)}` }
  }
})
