/**
 * Latency of admin requests with a million users: `node bench/admin-million.ts [users] [requests]`. Requests are
 * sequential, like those of one operator, after a warm-up. The last two columns are processor time per request,
 * which depends least on other load.
 */
import { mintServiceRole } from '../server/service-role.ts'
import { withClient } from '../server/with-client.ts'
import { postmaster } from './core/listener.ts'
import { createTarget } from './core/target.ts'
import { type Cost, readCost, type Variant } from './cost.ts'
import { startPostern } from './own-server.ts'
import { quantile } from './statistics.ts'

const [users = 1_000_000, requests = 300] = process.argv.slice(2).map(Number)
const warmUps = 10

const firstNames = ['Ada', 'Ben', 'Cleo', 'Dilek', 'Émile', 'Fatou', 'Goran', 'Hana', 'Ivan', 'Jo']
const lastNames = ['Abiola', 'Bianchi', 'Chen', 'Dvořák', 'Eriksen', 'Fischer', 'Gupta', 'Haddad']

/** Admin requests; `i` makes each one different. */
const listQueries: Record<string, (i: number) => string> = {
  'first page of 50': () => '/admin/users?page=1&per_page=50',
  'page 10 of 50': () => '/admin/users?page=10&per_page=50',
  'page in the middle': () => `/admin/users?page=${Math.ceil(users / 100)}&per_page=50`,
  'by cursor': () => '/admin/users?limit=50',
  'count (per_page=1)': () => '/admin/users?page=1&per_page=1',
  'search: whole address': (i) => `/admin/users?q=user-${pick(i)}@example${pick(i) % 97}.com`,
  'search: part of an address': (i) => `/admin/users?q=son-${pick(i)}`,
  'search: phone number': (i) => `/admin/users?q=${4_930_000_000_000 + pick(i)}`,
  'search: full name': (i) => `/admin/users?q=${name(i)}%20${pick(i)}`,
  'search: common name': (i) => `/admin/users?q=${name(i)}`,
  'search: three letters': (i) => `/admin/users?q=${['ada', 'che', 'ple', 'fis'][i % 4]}`,
  'search: two letters': (i) => `/admin/users?q=${['pe', 'ad', 'ch', 'zz'][i % 4]}`,
  'search without results': (i) => `/admin/users?q=xq${i}wz`,
  'state: banned (1 in 10,000)': () => '/admin/users?limit=50&state=banned',
  'state: confirmed (most)': () => '/admin/users?limit=50&state=confirmed',
  'state: unconfirmed (1 in 20)': () => '/admin/users?limit=50&state=unconfirmed',
  'state: deleted (none)': () => '/admin/users?limit=50&state=deleted',
  'provider: most users': () => '/admin/users?limit=50&provider=email',
  'provider: 1 in 1,000': () => '/admin/users?limit=50&provider=github',
  'provider: five users': () => '/admin/users?limit=50&provider=custom:corp',
  'provider without users': () => '/admin/users?limit=50&provider=apple',
  'search and state': (i) => `/admin/users?limit=50&state=banned&q=${name(i)}`,
  'search, state and provider': (i) =>
    `/admin/users?limit=50&state=confirmed&provider=github&q=son-${pick(i) % 1000}`,
  'a year ago': () => '/admin/users?limit=50&created_before=2026-01-01T00:00:00Z',
  'statistics of 30 days': () => '/admin/statistics?range=30d',
  'filter, as SDKs do': (i) => `/admin/users?filter=son-${pick(i)}`,
}

const pick = (i: number) => (i * 7_919) % users
const name = (i: number) =>
  encodeURIComponent(`${firstNames[i % 10]} ${lastNames[Math.floor(i / 10) % 8]}`)

const own = await startPostern({ env: { AUTH_CONSOLE_ENABLED: 'true' } })
try {
  const startedAt = performance.now()
  await fill(own.databaseUrl)
  console.log(`${users} users in ${Math.round((performance.now() - startedAt) / 1000)} s\n`)
  const serviceRole = await mintServiceRole(own.jwtSecret)
  const target = createTarget({ name: 'own', url: own.url, connections: 1, serviceRole })
  const serverPids = own.variants[0]?.serverPids ?? []
  const variant = { target, serverPids, postgresPid: postmaster(own.databaseUrl) }
  console.log('| Request | p50 ms | p95 ms | p99 ms | server CPU | Postgres CPU |')
  console.log('| --- | ---: | ---: | ---: | ---: | ---: |')
  for (const [query, path] of Object.entries(listQueries)) await measure(variant, query, path)
  const ids = await listUserIds(own.databaseUrl)
  await measure(variant, 'one user', (i) => `/admin/users/${ids[i % ids.length]}`)
  await target.close()
} finally {
  await own.stop()
}

async function measure(variant: Variant, query: string, path: (i: number) => string) {
  const { target } = variant
  const token = target.adminToken()
  const times: number[] = []
  let before: Cost = readCost(variant)
  for (let i = 0; i < requests + warmUps; i++) {
    if (i === warmUps) before = readCost(variant)
    const startedAt = performance.now()
    await target.call({ method: 'GET', path: path(i), token })
    if (i >= warmUps) times.push(performance.now() - startedAt)
  }
  times.sort((a, b) => a - b)
  const after = readCost(variant)
  const cells = [
    quantile(times, 0.5),
    quantile(times, 0.95),
    quantile(times, 0.99),
    (after.server - before.server) / requests,
    (after.postgres - before.postgres) / requests,
  ]
  console.log(`| ${[query, ...cells.map((value) => value.toFixed(1))].join(' | ')} |`)
}

async function fill(connectionString: string): Promise<void> {
  await withClient({ connectionString }, async (client) => {
    // One long build of the search index instead of a million small updates.
    const found = await client.query(
      `select pg_get_indexdef('auth.postern_users_trigram_idx'::regclass) as definition`,
    )
    await client.query('drop index auth.postern_users_trigram_idx')
    await client.query(
      `insert into auth.users (instance_id, id, aud, role, email, phone, email_confirmed_at,
          raw_app_meta_data, raw_user_meta_data, created_at, updated_at)
        select '00000000-0000-0000-0000-000000000000', gen_random_uuid(), 'authenticated',
          'authenticated', format('user-%s@example%s.com', i, i % 97), (4930000000000 + i)::text,
          now(), '{"provider": "email", "providers": ["email"]}',
          jsonb_build_object('full_name', format('%s %s %s', ($2::text[])[1 + i % 10],
            ($3::text[])[1 + i / 10 % 8], i)),
          now() - interval '1 second' * ($1::int - i), now()
        from generate_series(0, $1::int - 1) i`,
      [users, firstNames, lastNames],
    )
    await client.query(
      `insert into auth.identities (id, provider_id, user_id, provider, identity_data, created_at)
        select gen_random_uuid(), id::text, id, 'email', jsonb_build_object('email', email), created_at
        from auth.users`,
    )
    await client.query(
      `update auth.identities set provider = case when number % 200000 = 0 then 'custom:corp' else 'github' end
        from (select id, row_number() over () as number from auth.identities) as numbered
        where numbered.id = identities.id and number % 1000 = 0`,
    )
    await client.query(
      `update auth.users set banned_until = case when number % 10000 = 0 then now() + interval '1 year' end,
          email_confirmed_at = case when number % 20 <> 0 then email_confirmed_at end
        from (select id, row_number() over () as number from auth.users) as numbered
        where numbered.id = users.id and (number % 10000 = 0 or number % 20 = 0)`,
    )
    await client.query(found.rows[0].definition)
    await client.query('vacuum analyze auth.users')
    await client.query('vacuum analyze auth.identities')
  })
}

async function listUserIds(connectionString: string): Promise<string[]> {
  return withClient({ connectionString }, async (client) => {
    const sample = await client.query(
      'select id from auth.users tablesample system (0.1) limit 500',
    )
    return sample.rows.map(({ id }) => id)
  })
}
