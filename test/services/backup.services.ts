/** The drill of docs/operations.md: a database with users in it and tables of another user, lost and restored. */
import assert from 'node:assert/strict'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, suite, type TestContext, test } from 'node:test'

import type { Session } from '../../schemas/session.ts'
import { migrated, query } from '../db/sql.ts'
import { encryptionKey } from '../support/config.ts'
import { startCli } from '../support/processes/cli-process.ts'
import { freePort } from '../support/processes/free-port.ts'
import { startServerProcess } from '../support/processes/server-process.ts'
import { temporaryFolder } from '../support/processes/temporary-folder.ts'
import { bin, startPostgresServer } from './postgres.ts'

const skip = bin === undefined && 'not installed: postgresql'
const secrets = {
  AUTH_JWT_SECRET: 'only-for-tests-and-long-enough-to-pass',
  AUTH_ENCRYPTION_KEY: encryptionKey,
}
const another = 'bHkqzwiY5zHhq3tHxvX1mXoDqB0Y8y2Ewq5mQwS3n2c'

let postgres: Awaited<ReturnType<typeof startPostgresServer>>
let databases = 0
const stops: (() => Promise<void>)[] = []

suite('npm run backup and npm run restore', { skip }, () => {
  before(async () => {
    postgres = await startPostgresServer({ after: (stop) => void stops.push(stop) })
  })
  after(async () => {
    for (const stop of stops.reverse()) await stop()
  })

  test('restores a table that references users, and users stay signed in', async (t) => {
    const drill = await startDrill(t)
    const { user } = drill
    await writeFile(`${drill.file}.part`, 'left for others to read', { mode: 0o644 })
    const output = await drill.run('backup', [drill.file], drill.url)
    assert.equal(output.code, 0, output.err)
    assert.match(output.out, /KiB\.\nIts secrets are encrypted with the key [0-9a-f]{16}/)
    assert.equal((await stat(drill.file)).mode & 0o777, 0o600)

    const target = await drill.newDatabase()
    const restored = await drill.run('restore', [drill.file], target)

    assert.equal(restored.code, 0, restored.err)
    assert.match(restored.out, /^Restored \(users: 1\)/)
    assert.deepEqual(
      await query(target, 'select text from notes join auth.users on users.id = notes.owner'),
      [{ text: 'mine' }],
    )
    await assert.rejects(
      query(target, `insert into notes values (gen_random_uuid(), 'of no one')`),
      /notes_owner_fkey/,
    )
    assert.deepEqual(await indexesIn(target), await indexesIn(drill.url))
    const { url } = await serve(t, target)
    await refreshed(url, user)
  })

  test('restores the server’s schemas only, with the index of an extension', async (t) => {
    const drill = await startDrill(t)
    const output = await drill.run('backup', [drill.file, '--auth-only'], drill.url)
    assert.equal(output.code, 0, output.err)

    const target = await drill.newDatabase()
    const restored = await drill.run('restore', [drill.file], target)

    assert.equal(restored.code, 0, restored.err)
    const names = (await indexesIn(target)).map(({ name }) => name)
    assert.ok(names.includes('postern_users_trigram_idx'))
    assert.deepEqual(await query(target, `select 1 from pg_class where relname = 'notes'`), [])
    await refreshed((await serve(t, target)).url, drill.user)
  })

  for (const [what, args] of Object.entries({
    'the whole database': [],
    'the server’s schemas only': ['--auth-only'],
  })) {
    test(`restores an extension in its own schema: ${what}`, async (t) => {
      const drill = await startDrill(t)
      await query(
        drill.url,
        'create schema extensions',
        'alter extension pg_trgm set schema extensions',
      )
      const output = await drill.run('backup', [drill.file, ...args], drill.url)
      assert.equal(output.code, 0, output.err)

      const target = await drill.newDatabase()
      const restored = await drill.run('restore', [drill.file], target)

      assert.equal(restored.code, 0, restored.err)
      await refreshed((await serve(t, target)).url, drill.user)
    })
  }

  test('rebuilds a missing index at startup', async (t) => {
    const drill = await startDrill(t)
    await query(
      drill.url,
      'drop index auth.postern_users_trigram_idx, auth.postern_users_email_idx',
    )

    await query(
      drill.url,
      `update pg_index set indisvalid = false
      where indexrelid = 'auth.users_instance_id_idx'::regclass`,
    )
    const warnings = await migrated(drill.url)

    assert.match(warnings.join(), /does not use: auth\.users_instance_id_idx\./)
    const names = (await indexesIn(drill.url)).map(({ name }) => name)
    assert.ok(names.includes('postern_users_trigram_idx'))
    assert.ok(names.includes('postern_users_email_idx'))
  })

  test('rejects a partial restore and lists all blockers', async (t) => {
    const drill = await startDrill(t)
    await query(drill.url, 'create role keeper', 'alter table notes owner to keeper')
    await drill.run('backup', [drill.file], drill.url)

    const inUse = await drill.run('restore', [drill.file], drill.url)
    assert.equal(inUse.code, 1)
    assert.match(inUse.err, /The database is not empty \(auth\..*: restore into a new one/)

    const target = await drill.newDatabase()
    await query(drill.url, 'alter table notes owner to postgres', 'drop role keeper')
    const wrong = await drill.run('restore', [drill.file], target, { AUTH_ENCRYPTION_KEY: another })
    assert.equal(wrong.code, 1)
    assert.match(
      wrong.err,
      /^The data in this backup cannot be decrypted\. Set AUTH_ENCRYPTION_KEY/,
    )
    assert.match(wrong.err, /The role keeper is missing.*create role keeper login;/)
    assert.deepEqual(await query(target, `select 1 from pg_namespace where nspname = 'auth'`), [])
  })

  test('finds the roles of policies with any text', async (t) => {
    const drill = await startDrill(t)
    await query(
      drill.url,
      'create role reader',
      'create role "the owner"',
      'alter table notes enable row level security',
      `create policy "given TO everyone" on notes using (text <> 'TO no_one')`,
      `create policy asking on notes as restrictive for update to reader, "the owner"
        using (exists (select from auth.users where id = owner)) with check (true)`,
    )
    await drill.run('backup', [drill.file], drill.url)
    await query(drill.url, 'drop policy asking on notes', 'drop role reader, "the owner"')
    const target = await drill.newDatabase()

    const rejected = await drill.run('restore', [drill.file], target)
    assert.equal(
      rejected.err,
      'The role reader is missing. Run as an administrator: create role reader login;\n' +
        'The role the owner is missing. Run as an administrator: create role "the owner" login;\n',
    )

    await query(target, 'create role reader login', 'create role "the owner" login')
    const restored = await drill.run('restore', [drill.file], target)
    assert.equal(restored.code, 0, restored.err)
  })

  test('restores users without the key and loses encrypted values, as documented', async (t) => {
    const drill = await startDrill(t)
    await drill.run('backup', [drill.file], drill.url)
    const target = await drill.newDatabase()
    const env = { AUTH_ENCRYPTION_KEY: another }
    const restored = await drill.run('restore', [drill.file, '--allow-missing-key'], target, env)
    assert.equal(restored.code, 0, restored.err)

    await query(target, await statementsForLostKey())

    const { url } = await serve(t, target, env)
    assert.equal((await refresh(url, drill.user)).status, 400)
    const { email } = drill
    const signedIn = await send(url, '/token?grant_type=password', { email, password })
    assert.equal(signedIn.status, 200, await signedIn.text())
  })

  test('leaves no partial backup and overwrites none', async (t) => {
    const drill = await startDrill(t)
    await writeFile(drill.file, 'of yesterday')
    const there = await drill.run('backup', [drill.file], drill.url)
    assert.match(there.err, /already exists: choose another name/)
    assert.equal(await readFile(drill.file, 'utf8'), 'of yesterday')

    await query(
      drill.url,
      `create role weak login password 'weak'`,
      'grant usage on schema auth to weak',
    )
    const other = `${drill.file}.2`
    const weak = Object.assign(new URL(drill.url), { username: 'weak', password: 'weak' }).href
    const rejected = await drill.run('backup', [other], weak)
    assert.equal(rejected.code, 1)
    assert.match(rejected.err, /permission denied/)
    await assert.rejects(stat(`${other}.part`), /ENOENT/)
  })
})

const password = 'correct horse battery'

async function startDrill(t: TestContext) {
  const folder = temporaryFolder(t, 'backup')
  const newDatabase = async () => {
    const name = `copy${++databases}`
    await query(postgres.url, `create database ${name}`)
    return Object.assign(new URL(postgres.url), { pathname: `/${name}` }).href
  }
  const url = await newDatabase()
  const { url: server, child } = await serve(t, url)
  const email = 'ann@example.com'
  const response = await send(server, '/signup', { email, password })
  const user: Session = JSON.parse(await response.text())
  assert.equal(response.status, 200)
  await query(
    url,
    'create table notes (owner uuid not null references auth.users (id), text text not null)',
    `insert into notes select id, 'mine' from auth.users`,
  )
  child.kill('SIGTERM')

  async function run(
    command: string,
    args: string[],
    at: string,
    env: Record<string, string> = {},
  ) {
    const process = startCli(t, [command, ...args], {
      cwd: folder,
      env: { ...operator, ...secrets, ...env, DATABASE_URL: at },
    })
    const code = await process.ended
    return { code, ...process.written }
  }

  return { url, email, user, file: join(folder, 'postern.dump'), newDatabase, run }
}

const operator = {
  AUTH_SITE_URL: 'http://app.example',
  AUTH_API_EXTERNAL_URL: 'http://auth.example',
  AUTH_DB_DRIVER: 'postgres',
}

async function serve(t: TestContext, url: string, env: Record<string, string> = {}) {
  const PORT = String(await freePort())
  const more = { AUTH_MAILER_AUTOCONFIRM: 'true', PORT, ...secrets, ...env }
  return startServerProcess(t, { ...more, DATABASE_URL: url })
}

function send(url: string, path: string, body: object): Promise<Response> {
  const headers = { 'content-type': 'application/json' }
  return fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
}

function refresh(url: string, { refresh_token }: Session): Promise<Response> {
  return send(url, '/token?grant_type=refresh_token', { refresh_token })
}

async function refreshed(url: string, user: Session): Promise<void> {
  const response = await refresh(url, user)
  assert.equal(response.status, 200, await response.text())
}

function indexesIn(url: string) {
  return query(
    url,
    `select relname as name, indisvalid as valid from pg_index join pg_class on oid = indexrelid
      where relnamespace = 'auth'::regnamespace order by 1`,
  )
}

/** As copied from the document. */
async function statementsForLostKey(): Promise<string> {
  const text = await readFile(new URL('../../docs/operations.md', import.meta.url), 'utf8')
  const [, statements] =
    /```sql\n(-- Deletes everything that was encrypted with the lost key[^`]*)```/.exec(text) ?? []
  return statements ?? assert.fail('the document does not say what to do')
}
