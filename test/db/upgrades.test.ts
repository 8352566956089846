/** Databases of earlier releases, migrated: the schema equals a new one and users stay signed in. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { before, suite, test } from 'node:test'

import {
  cloneDatabase,
  emptyDatabase,
  type TestDatabase,
  withoutDrop,
} from '../support/database.ts'
import { stepUp, totpCode } from '../support/factors/factors.ts'
import { type Ending, endingOfSuite } from '../support/processes/ending.ts'
import { getUser, refresh, verify } from '../support/requests.ts'
import { build } from '../support/server.ts'
import { signedIn } from '../support/users.ts'
import { columns, migrated, query } from './sql.ts'

interface Users {
  plain: { email: string; refresh_token: string; link: string }
  /** The name in the kept schemas; a user with TOTP. */
  guarded: { email: string; refresh_token: string; factor: string; secret: string }
}

const folder = join(import.meta.dirname, 'fixtures/schemas')

async function restored(t: Ending, file: string) {
  const database = await emptyDatabase(t)
  const text = readFileSync(file, 'utf8')
  const users: Users = JSON.parse(/^-- (.*)/.exec(text)?.[1] ?? '')
  await query(database.url, text)
  return { database, accounts: users }
}

const catalogue = (url: string) =>
  query(
    url,
    `select tablename || '.' || indexname as name, indexdef as value from pg_indexes where schemaname = 'auth'
      union all select conrelid::regclass || '.' || conname, pg_get_constraintdef(oid) from pg_constraint
        where connamespace = 'auth'::regnamespace
      union all select proname, prosrc from pg_proc where pronamespace = 'auth'::regnamespace
      union all select name, 'early' from auth.postern_migrations
      union all select name, 'later' from auth.postern_later_migrations
      order by 1`,
  )

const files = globSync(join(folder, '*.sql')).sort()

test('the upgrade tests include a database of an earlier release', () =>
  assert.ok(files.length > 0))

for (const file of files) {
  suite(`migration from release ${basename(file, '.sql')}`, () => {
    const ending = endingOfSuite()
    let database: TestDatabase
    let users: Users
    before(async () => {
      const { database: old, accounts } = await restored(ending, file)
      await migrated(old.url)
      database = old
      users = accounts
    })

    test('creates the schema of a new database', async (t) => {
      const made = await cloneDatabase(t)
      for (const schema of ['auth', 'auth_jobs']) {
        assert.deepEqual(await columns(database.url, schema), await columns(made.url, schema))
      }
      assert.deepEqual(await catalogue(database.url), await catalogue(made.url))
    })

    test('keeps passwords, sessions, factors and links valid', async (t) => {
      await query(
        database.url,
        // The link was sent when the release was made.
        `update auth.postern_one_time_tokens set expires_at = now() + interval '1 hour'`,
      )
      const { app } = await build(t, { database: withoutDrop(database) })
      const { plain, guarded: userWithTotp } = users

      for (const { email, refresh_token } of [plain, userWithTotp]) {
        const refreshed = await refresh(app, refresh_token)
        assert.equal(refreshed.statusCode, 200, refreshed.body)
        assert.equal((await getUser(app, refreshed.json())).json().email, email)
        await signedIn(app, email)
      }
      const session = await signedIn(app, userWithTotp.email)
      const code = (away = 0) => totpCode(userWithTotp.secret, away)
      await stepUp(app, session, { id: userWithTotp.factor, secret: userWithTotp.secret, code })
      const opened = await verify(app, { type: 'recovery', token_hash: plain.link })
      assert.equal(opened.statusCode, 200, opened.body)
    })
  })
}
