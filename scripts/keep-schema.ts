/**
 * `npm run schema:keep`: stores the schema of this release with users as test/db/fixtures/schemas/<version>.sql, from
 * which test/db/upgrades.test.ts migrates, and its variables as test/config/releases/<version>.json. DATABASE_URL names an empty database, preferably on the oldest supported
 * Postgres, and pg_dump of its version is required.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'

import { runMigrations } from '../server/migrate.ts'
import { userWithTotp } from '../test/support/factors/factors.ts'
import { emailAfter } from '../test/support/messages/mail-journeys.ts'
import { linkIn } from '../test/support/messages/mail-links.ts'
import { call } from '../test/support/requests.ts'
import { build } from '../test/support/server.ts'
import { autoconfirm, signUpUser } from '../test/support/users.ts'
import { readRelease, workingTree } from './release/read.ts'

const url = process.env.DATABASE_URL
if (!url) throw new Error('DATABASE_URL must name an empty database.')

const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
const folder = 'test/db/fixtures/schemas'
await migrateEmpty(url)
const users = await fill(url)
mkdirSync(folder, { recursive: true })
writeFileSync(`${folder}/${version}.sql`, `-- ${JSON.stringify(users)}\n${dump(url)}`)
const { variables } = readRelease(workingTree())
const defaults = Object.fromEntries([...variables].toSorted())
writeFileSync(`test/config/releases/${version}.json`, `${JSON.stringify(defaults, null, 2)}\n`)
console.log(`The schema and the variables of ${version} are stored.`)

async function migrateEmpty(connectionString: string): Promise<void> {
  const log = { debug() {}, info() {}, warn: (message: string) => console.error(message) }
  await runMigrations({ connectionString, schema: 'auth', log })
}

/** Users whose secrets are on the first line of the file: they must stay valid after each upgrade. */
async function fill(database: string) {
  await using ending = new AsyncDisposableStack()
  const after = (stop: () => Promise<void>) => ending.defer(stop)
  const server = await build(
    { after },
    { database: { url: database, drop: async () => {} }, env: autoconfirm },
  )
  const { email, refresh_token } = await signUpUser(server.app)
  const { email: address, factor, session } = await userWithTotp(server.app)
  const recover = () => call(server.app, '/recover', { email })
  const link = new URL(linkIn(await emailAfter(server, email, recover)))
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

/** Without psql meta-commands and machine-specific lines. */
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
  // It belongs to no dumped schema, and an index needs it.
  return ['create extension if not exists pg_trgm schema public;', ...lines, ''].join('\n')
}
