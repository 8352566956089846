/**
 * How long admins wait when there are a million people: `node bench/admin-million.ts [people] [requests]`.
 * One request at a time, as a person at a screen makes them, after a few that are not counted. The last two columns
 * are processor time a request, which depends least on what else the machine does.
 */
import { withClient } from '../cli/with-client.ts'
import { type Cost, costOf, type Side } from './cost.ts'
import { postmaster } from './listener.ts'
import { startOwnServer } from './own-server.ts'
import { mintServiceRole } from './service-role.ts'
import { quantile } from './statistics.ts'
import { createTarget } from './target.ts'

const [people = 1_000_000, requests = 300] = process.argv.slice(2).map(Number)
const warmUps = 10

const firstNames = ['Ada', 'Ben', 'Cleo', 'Dilek', 'Émile', 'Fatou', 'Goran', 'Hana', 'Ivan', 'Jo']
const lastNames = ['Abiola', 'Bianchi', 'Chen', 'Dvořák', 'Eriksen', 'Fischer', 'Gupta', 'Haddad']

/** What an admin asks for; `i` makes each request another one. */
const questions: Record<string, (i: number) => string> = {
  'first page of 50': () => '/admin/users?page=1&per_page=50',
  'page 10 of 50': () => '/admin/users?page=10&per_page=50',
  'page in the middle': () => `/admin/users?page=${Math.ceil(people / 100)}&per_page=50`,
  'by cursor': () => '/admin/users?limit=50',
  'count (per_page=1)': () => '/admin/users?page=1&per_page=1',
  'search: whole address': (i) => `/admin/users?q=person-${pick(i)}@example${pick(i) % 97}.com`,
  'search: part of an address': (i) => `/admin/users?q=son-${pick(i)}`,
  'search: phone number': (i) => `/admin/users?q=${4_930_000_000_000 + pick(i)}`,
  'search: full name': (i) => `/admin/users?q=${name(i)}%20${pick(i)}`,
  'search: common name': (i) => `/admin/users?q=${name(i)}`,
  'search: three letters': (i) => `/admin/users?q=${['ada', 'che', 'ple', 'fis'][i % 4]}`,
  'search: two letters': (i) => `/admin/users?q=${['pe', 'ad', 'ch', 'zz'][i % 4]}`,
  'search: nobody': (i) => `/admin/users?q=xq${i}wz`,
  'filter, as SDKs do': (i) => `/admin/users?filter=son-${pick(i)}`,
}

const pick = (i: number) => (i * 7_919) % people
const name = (i: number) =>
  encodeURIComponent(`${firstNames[i % 10]} ${lastNames[Math.floor(i / 10) % 8]}`)

const own = await startOwnServer()
try {
  const startedAt = performance.now()
  await fill(own.databaseUrl)
  console.log(`${people} people in ${Math.round((performance.now() - startedAt) / 1000)} s\n`)
  const serviceRole = await mintServiceRole(own.jwtSecret)
  const target = createTarget({ name: 'own', url: own.url, connections: 1, serviceRole })
  const serverPids = own.sides[0]?.serverPids ?? []
  const side = { target, serverPids, postgresPid: postmaster(own.databaseUrl) }
  console.log('| Request | p50 ms | p99 ms | server CPU | Postgres CPU |')
  console.log('| --- | --- | --- | --- | --- |')
  for (const [question, path] of Object.entries(questions)) await measure(side, question, path)
  const ids = await idsOf(own.databaseUrl)
  await measure(side, 'one person', (i) => `/admin/users/${ids[i % ids.length]}`)
  await target.close()
} finally {
  await own.stop()
}

async function measure(side: Side, question: string, path: (i: number) => string) {
  const { target } = side
  const token = target.adminToken()
  const times: number[] = []
  let before: Cost = costOf(side)
  for (let i = 0; i < requests + warmUps; i++) {
    if (i === warmUps) before = costOf(side)
    const startedAt = performance.now()
    await target.call({ method: 'GET', path: path(i), token })
    if (i >= warmUps) times.push(performance.now() - startedAt)
  }
  times.sort((a, b) => a - b)
  const after = costOf(side)
  const cells = [
    quantile(times, 0.5),
    quantile(times, 0.99),
    (after.server - before.server) / requests,
    (after.postgres - before.postgres) / requests,
  ]
  console.log(`| ${[question, ...cells.map((value) => value.toFixed(1))].join(' | ')} |`)
}

async function fill(connectionString: string): Promise<void> {
  await withClient({ connectionString }, async (client) => {
    // One long build of the search index instead of a million small ones.
    const found = await client.query(
      `select pg_get_indexdef('auth.postern_users_trigram_idx'::regclass) as definition`,
    )
    await client.query('drop index auth.postern_users_trigram_idx')
    await client.query(
      `insert into auth.users (instance_id, id, aud, role, email, phone, email_confirmed_at,
          raw_app_meta_data, raw_user_meta_data, created_at, updated_at)
        select '00000000-0000-0000-0000-000000000000', gen_random_uuid(), 'authenticated',
          'authenticated', format('person-%s@example%s.com', i, i % 97), (4930000000000 + i)::text,
          now(), '{"provider": "email", "providers": ["email"]}',
          jsonb_build_object('full_name', format('%s %s %s', ($2::text[])[1 + i % 10],
            ($3::text[])[1 + i / 10 % 8], i)),
          now() - interval '1 second' * ($1::int - i), now()
        from generate_series(0, $1::int - 1) i`,
      [people, firstNames, lastNames],
    )
    await client.query(
      `insert into auth.identities (id, provider_id, user_id, provider, identity_data, created_at)
        select gen_random_uuid(), id::text, id, 'email', jsonb_build_object('email', email), created_at
        from auth.users`,
    )
    await client.query(found.rows[0].definition)
    await client.query('vacuum analyze auth.users')
    await client.query('vacuum analyze auth.identities')
  })
}

async function idsOf(connectionString: string): Promise<string[]> {
  return withClient({ connectionString }, async (client) => {
    const sample = await client.query(
      'select id from auth.users tablesample system (0.1) limit 500',
    )
    return sample.rows.map(({ id }) => id)
  })
}
