import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'

import { sql } from 'kysely'

import type { User } from '../../../schemas/user.ts'
import { asAdmin } from '../../support/admin.ts'
import { endingOfSuite } from '../../support/ending.ts'
import { adminToken, createdPerson } from '../../support/people.ts'
import { type App, build } from '../../support/server.ts'

interface List {
  users: User[]
  aud: string
  next_cursor?: string
}

const people = 25

suite('GET /admin/users', () => {
  const ending = endingOfSuite()
  let app: App
  before(async () => {
    app = (await build(ending)).app
    // A microsecond apart, and every fifth at the same moment: times alone do not order them.
    await sql`
      insert into auth.users (instance_id, id, aud, email, phone, raw_user_meta_data, created_at, updated_at)
      select '00000000-0000-0000-0000-000000000000', gen_random_uuid(), 'authenticated',
        format('person-%s@example.com', to_char(i, 'FM00')), '4930' || 1000 + i,
        jsonb_build_object('full_name',
          case when i = 3 then 'İbrahim' when i % 2 = 0 then 'Élodie' else 'Bo_b' end || ' ' || i),
        timestamptz '2026-01-01' + interval '1 microsecond' * (i / 5), now()
      from generate_series(1, ${people}::int) i`.execute(app.db)
  })

  test('pages lead through everybody once, newest first', async () => {
    const seen: string[] = []
    const links = []
    for (let page = 1; page <= 7; page++) {
      const response = await list(`page=${page}&per_page=4`)
      assert.equal(response.headers['x-total-count'], `${people}`)
      assert.equal(response.headers['x-total-count-precision'], 'exact')
      links.push(response.headers.link)
      for (const user of response.json<List>().users) seen.push(user.id)
    }
    assert.equal(new Set(seen).size, people)
    assert.equal(
      links[0],
      '</admin/users?page=2&per_page=4>; rel="next", </admin/users?page=7&per_page=4>; rel="last"',
    )
    assert.equal(links[6], '</admin/users?page=7&per_page=4>; rel="last"')
    const ascending = await everybody('sort=created_at+asc')
    assert.deepEqual(ascending.reverse(), seen)
  })

  test('a listed person has no identities and no factors', async () => {
    const { users, aud } = (await list('per_page=1')).json<List>()
    assert.equal(aud, 'authenticated')
    assert.equal(users[0]?.identities, null)
    assert.equal(users[0]?.factors, undefined)
  })

  test('a page behind the last is empty and still tells the total', async () => {
    const response = await list('page=9&per_page=10')
    assert.deepEqual(response.json<List>().users, [])
    assert.equal(response.headers['x-total-count'], `${people}`)
    assert.equal(response.headers.link, '</admin/users?page=3&per_page=10>; rel="last"')
  })

  test('nobody found: no pages', async () => {
    const response = await list('filter=nobody-is-called-so')
    assert.equal(response.headers['x-total-count'], '0')
    assert.match(String(response.headers.link), /page=0&per_page=50>; rel="last"$/)
  })

  test('a cursor leads through everybody once, also those of one moment', async () => {
    for (const sort of ['created_at desc', 'created_at asc']) {
      const seen: string[] = []
      let cursor = ''
      do {
        const answer: List = (await list(`limit=3&sort=${sort}&cursor=${cursor}`)).json()
        seen.push(...answer.users.map(({ id }) => id))
        cursor = answer.next_cursor ?? ''
      } while (cursor)
      assert.deepEqual(seen, await everybody(`sort=${sort}`))
    }
  })

  const searches: [string, number][] = [
    ['q=person-07', 1],
    ['q=PERSON-07@EXAMPLE.COM', 1],
    ['q=erson-0', 9],
    ['q=person-07@example', 1],
    ['q=@example.com', people],
    ['q=+493 01007', 1],
    ['q=pe', people],
    ['q=er', 0],
    ['q=+49 30 1007', 1],
    ['q=49301', people],
    ['q=301007', 1],
    ['q=élodie 4', 1],
    ['q=İbrahim', 1],
    ['q=bo_b 1', 6],
    ['q=bo%25b', 0],
    ['q=boxb', 0],
    [String.raw`q=bo\_b`, 0],
    ['q=@@', 0],
    ['q=', people],
    ['filter=person-07', 1],
    ['filter=PERSON-07', 0],
    ['filter=élodie 4', 1],
    ['filter=İbrahim', 1],
    ['filter=%25', 0],
  ]
  for (const [query, found] of searches) {
    test(`${query} finds ${found}`, async () => {
      const url = `/admin/users?${query.replaceAll('+', '%2B')}`
      const response = await asAdmin(app, 'GET', url)
      assert.equal(response.json<List>().users.length, found)
      assert.equal(response.headers['x-total-count'], `${found}`)
    })
  }

  test('an id finds its person', async () => {
    const [id = ''] = await everybody('')
    const { users } = (await list(`q=${id}`)).json<List>()
    assert.deepEqual(
      users.map((user) => user.id),
      [id],
    )
  })

  test('another audience is another list', async () => {
    await createdPerson(app, { email: 'else@example.com', aud: 'others' })
    const { authorization } = await headers()
    const others = await app.inject({
      url: '/admin/users',
      headers: { authorization, 'x-jwt-aud': 'others' },
    })
    const { users, aud } = others.json<List>()
    assert.deepEqual([users.length, aud], [1, 'others'])
    assert.equal((await list('')).headers['x-total-count'], `${people}`)
  })

  test('beyond what is counted, the total is an estimate and says so', async () => {
    await sql`insert into auth.users (instance_id, id, aud, created_at)
      select '00000000-0000-0000-0000-000000000000', gen_random_uuid(), 'many', now()
      from generate_series(1, 12000)`.execute(app.db)
    await sql`analyze auth.users`.execute(app.db)
    const { authorization } = await headers()
    const many = { authorization, 'x-jwt-aud': 'many' }
    const response = await app.inject({ url: '/admin/users?per_page=1', headers: many })
    assert.equal(response.headers['x-total-count-precision'], 'estimate')
    const told = Number(response.headers['x-total-count'])
    assert.ok(told > 10_000 && told < 13_000, `${told}`)
    // Of their own audience, however many others there are.
    const few = await app.inject({ url: '/admin/users?per_page=1', headers: await headers() })
    assert.equal(few.headers['x-total-count-precision'], 'estimate')
    const toldOfFew = Number(few.headers['x-total-count'])
    assert.ok(toldOfFew > people / 2 && toldOfFew < 2 * people, `${toldOfFew}`)
    const last = await app.inject({ url: '/admin/users?page=1200&per_page=10', headers: many })
    assert.equal(last.json<List>().users.length, 10)
    assert.equal(last.headers['x-total-count'], '12000')
    assert.equal(last.headers['x-total-count-precision'], 'exact')
  })

  test('with many people, a search of more than a page is estimated, the rest is exact', async () => {
    const { authorization } = await headers()
    const found = async (query: string, aud: string) => {
      const url = `/admin/users?${query}`
      const response = await app.inject({ url, headers: { authorization, 'x-jwt-aud': aud } })
      const { 'x-total-count': count, 'x-total-count-precision': precision } = response.headers
      return [response.json<List>().users.length, Number(count), precision]
    }
    assert.deepEqual(await found('q=person-0', 'authenticated'), [9, 9, 'exact'])
    const [length, count, precision] = await found('q=person-&per_page=10', 'authenticated')
    assert.deepEqual([length, precision], [10, 'estimate'])
    assert.ok(Number(count) >= 11)
    assert.deepEqual(await found('q=person-&per_page=10&page=3', 'authenticated'), [5, 25, 'exact'])
  })

  const mistakes = [
    'page=-1',
    'page=two',
    'page=1.5',
    'page=99999999999999999999',
    'per_page=0',
    'per_page=1001',
    'per_page=many',
    'limit=0',
    'limit=1001',
    'cursor=nonsense',
    `cursor=${Buffer.from("2026-01-01' or true").toString('base64url')}`,
    `cursor=${Buffer.from(`9999999999999999 ${crypto.randomUUID()}`).toString('base64url')}`,
    'sort=email asc',
    'sort=created_at sideways',
    `q=${'x'.repeat(256)}`,
  ]
  for (const query of mistakes) {
    test(`${query.slice(0, 40)} is refused`, async () => {
      const response = await list(query)
      assert.deepEqual(
        [response.statusCode, response.json().error_code],
        [400, 'validation_failed'],
        response.body,
      )
    })
  }

  test('page 0 is the first page, as in GoTrue', async () => {
    const [zero, first] = [await list('page=0&per_page=4'), await list('page=1&per_page=4')]
    assert.equal(zero.body, first.body)
    assert.equal(zero.headers.link, first.headers.link)
  })

  test('a sort without direction is the newest first', async () => {
    assert.deepEqual(await everybody('sort=created_at'), await everybody('sort=created_at desc'))
  })

  test('empty values are defaults', async () => {
    const response = await list('page=&per_page=&sort=&filter=&limit=&cursor=')
    assert.equal(response.json<List>().users.length, people)
  })

  function list(query: string) {
    return asAdmin(app, 'GET', `/admin/users?${query}`)
  }

  async function everybody(query: string): Promise<string[]> {
    const { users } = (await list(`per_page=1000&${query}`)).json<List>()
    return users.map(({ id }) => id)
  }

  async function headers() {
    return { authorization: `Bearer ${await adminToken(app)}` }
  }
})
