/**
 * `npm run schema:keep`: the schema of this release, with people in it, as test/fixtures/schemas/<version>.sql, from
 * which test/db/upgrades.test.ts migrates forwards. DATABASE_URL names an empty database, best on the oldest Postgres
 * that is supported, and pg_dump of its version has to be there.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'

import { runMigrations } from '../cli/migrate.ts'
import { guarded } from '../test/support/factors.ts'
import { mailAfter } from '../test/support/mail-journeys.ts'
import { linkIn } from '../test/support/mail-links.ts'
import { autoconfirm, newPerson } from '../test/support/people.ts'
import { call } from '../test/support/requests.ts'
import { build } from '../test/support/server.ts'

const url = process.env.DATABASE_URL
if (!url) throw new Error('DATABASE_URL has to name an empty database.')

const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
const folder = 'test/fixtures/schemas'
await migrateEmpty(url)
const people = await fill(url)
mkdirSync(folder, { recursive: true })
writeFileSync(`${folder}/${version}.sql`, `-- ${JSON.stringify(people)}\n${dump(url)}`)
console.log(`${folder}/${version}.sql is written`)

async function migrateEmpty(connectionString: string): Promise<void> {
  const log = { debug() {}, info() {}, warn: (message: string) => console.error(message) }
  await runMigrations({ connectionString, schema: 'auth', log })
}

/** People whose secrets the first line of the file tells: what they have must be good after every upgrade. */
async function fill(database: string) {
  await using ending = new AsyncDisposableStack()
  const after = (stop: () => Promise<void>) => ending.defer(stop)
  const server = await build(
    { after },
    { database: { url: database, drop: async () => {} }, env: autoconfirm },
  )
  const { email, refresh_token } = await newPerson(server.app)
  const { email: address, factor, session } = await guarded(server.app)
  const recover = () => call(server.app, '/recover', { email })
  const link = new URL(linkIn(await mailAfter(server, email, recover)))
  return {
    plain: { email, refresh_token, link: link.searchParams.get('token') },
    guarded: {
      email: address,
      refresh_token: session.refresh_token,
      factor: factor.id,
      secret: factor.secret,
    },
  }
}

/** Without what only psql understands, and without what is between one machine and another. */
function dump(database: string): string {
  const options = [
    '--inserts',
    '--no-owner',
    '--no-privileges',
    '--schema=auth',
    '--schema=auth_jobs',
  ]
  const text = execFileSync('pg_dump', [...options, database], { encoding: 'utf8' })
  const lines = text.split('\n').filter((line) => !/^(--|\\|$)/.test(line))
  // It belongs to no schema, and an index needs it.
  return ['create extension if not exists pg_trgm schema public;', ...lines, ''].join('\n')
}
