/** The procedure of docs/operations.md: replacing the encryption key while a server runs. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'
import { parseEnv } from 'node:util'

import { run } from '../../../cli/keys/index.ts'
import type { Session } from '../../../schemas/session.ts'
import { query } from '../../db/sql.ts'
import { testConfig } from '../../support/config.ts'
import { cloneDatabase, withoutDrop } from '../../support/database.ts'
import { lockSessionShared } from '../../support/locked-user.ts'
import { callCommand } from '../../support/processes/command-call.ts'
import { temporaryFolder } from '../../support/processes/temporary-folder.ts'
import { call } from '../../support/requests.ts'
import { build } from '../../support/server.ts'
import { autoconfirm, signIn, signUpUser } from '../../support/users.ts'

const [one, two] = [randomKey(), randomKey()]
const shared = { ...autoconfirm, AUTH_JWT_SECRET: testConfig().AUTH_JWT_SECRET }

suite('npm run keys -- encryption', () => {
  test('replaces the key without signing users out, and the old key can be removed', async (t) => {
    const drill = await startDrill(t, { AUTH_ENCRYPTION_KEY: one })
    const before = await drill.serve()
    const user = await signUpUser(before.app)
    assert.equal((await drill.command('status')).code, 0)

    assert.match((await drill.rotate()).stderr, /^\S+ is changed\. Step 1 of 3/)
    const next = drill.env().AUTH_ENCRYPTION_NEXT_KEY
    assert.equal(drill.env().AUTH_ENCRYPTION_KEY, one)
    // Servers with the previous and the next key run side by side.
    const reading = await drill.serve()
    assert.match((await drill.rotate()).stderr, /Step 2 of 3/)
    assert.equal(drill.env().AUTH_ENCRYPTION_KEY, next)
    assert.equal(drill.env().AUTH_ENCRYPTION_OLD_KEYS, one)
    assert.equal(drill.env().AUTH_ENCRYPTION_NEXT_KEY, undefined)
    const writing = await drill.serve()
    const newUser = await signUpUser(writing.app)
    const [first, second] = [await refresh(reading, newUser), await refresh(writing, user)]

    assert.match((await drill.rotate()).stderr, /reencrypt` first/)
    assert.match((await drill.command('reencrypt')).stdout, /^\d+ rows re-encrypted/)
    assert.match((await drill.command('status')).stdout, /AUTH_ENCRYPTION_OLD_KEYS +unused/)
    assert.match((await drill.rotate()).stderr, /Step 3 of 3/)
    assert.equal(drill.env().AUTH_ENCRYPTION_OLD_KEYS, undefined)
    const after = await drill.serve()
    await refresh(after, first)
    await refresh(after, second)
  })

  test('stores the key derived from AUTH_JWT_SECRET in a variable, so that the secret can change', async (t) => {
    const drill = await startDrill(t, {})
    // Such a database dates from before AUTH_ENCRYPTION_KEY was required.
    const old = await drill.serve({ dev: true })
    const user = await signUpUser(old.app)

    assert.match((await drill.rotate()).stderr, /derived from AUTH_JWT_SECRET/)
    const env = { AUTH_JWT_SECRET: 'another secret that is as long as it has to be' }
    const { app } = await drill.serve({ env })

    await refresh({ app }, user)
  })

  test('status counts each encrypted value in each table', async (t) => {
    const drill = await startDrill(t, { AUTH_ENCRYPTION_KEY: one })
    const { app } = await drill.serve()
    await signUpUser(app)

    const { stdout } = await drill.command('status')

    const counted = [...stdout.matchAll(/^ {2}(\d+) in (\S+)$/gm)].map(([, rows, place]) => [
      place,
      Number(rows),
    ])
    assert.deepEqual(Object.fromEntries(counted), await encryptedIn(drill.url))
  })

  test('status fails for values encrypted with a missing key', async (t) => {
    const drill = await startDrill(t, { AUTH_ENCRYPTION_KEY: one })
    await drill.serve()
    await drill.set({ AUTH_ENCRYPTION_KEY: two })

    const { stdout, code } = await drill.command('status')

    assert.equal(code, 1)
    assert.match(stdout, /not configured: \d+ rows? cannot be decrypted/)
  })

  test('reencrypt holds no other lock while it waits for a session', async (t) => {
    const drill = await startDrill(t, { AUTH_ENCRYPTION_KEY: one })
    const { app } = await drill.serve()
    const user = await signUpUser(app)
    for (let count = 0; count < 2; count++) await signIn(app, { email: user.email })
    await drill.set({ AUTH_ENCRYPTION_KEY: two, AUTH_ENCRYPTION_OLD_KEYS: one })
    const stored = await query(drill.url, 'select id::text from auth.sessions order by ctid')
    const ids = stored.map(({ id }) => String(id))
    // Neither the first in the table nor the first by id.
    const expected = ids.slice(1).toSorted().at(-1) ?? ''
    const others = ids.filter((id) => id !== expected)
    const lock = await lockSessionShared(app, expected)

    const { response } = await lock.queue(1, () => drill.command('reencrypt'))
    const free = await query(drill.url, {
      text: 'select from auth.sessions where id = any($1) for update skip locked',
      values: [others],
    })
    await lock.release()

    assert.equal(free.length, others.length)
    assert.match((await response).stdout, /^\d+ rows re-encrypted/)
    assert.match((await drill.command('status')).stdout, /OLD_KEYS +unused/)
  })

  test('rotate keeps all other lines of the file and its permissions', async (t) => {
    const drill = await startDrill(t, { AUTH_ENCRYPTION_KEY: one })
    await writeFile(drill.file, `# mine\nOTHER="a=b"\nexport AUTH_ENCRYPTION_KEY=${one}\n`)

    await drill.rotate()

    const lines = (await readFile(drill.file, 'utf8')).split('\n')
    assert.deepEqual(lines.slice(0, 3), [
      '# mine',
      'OTHER="a=b"',
      `export AUTH_ENCRYPTION_KEY=${one}`,
    ])
    assert.match(lines[3] ?? '', /^AUTH_ENCRYPTION_NEXT_KEY=[\w-]{43}$/)
  })
})

function randomKey(): string {
  return randomBytes(32).toString('base64url')
}

test('a new database uses the key of AUTH_JWT_SECRET, which another secret cannot decrypt', async (t) => {
  const database = await cloneDatabase(t)
  const started = await build(t, { env: { AUTH_ENCRYPTION_KEY: '' }, database })
  await started.app.close()
  const env = { AUTH_ENCRYPTION_KEY: '', AUTH_JWT_SECRET: randomKey() }
  await assert.rejects(build(t, { env, database }), { name: 'DecryptionError' })
})

test('a value encrypted by another replica with a missing key returns 503', async (t) => {
  const drill = await startDrill(t, { AUTH_ENCRYPTION_KEY: one })
  const behind = await drill.serve()
  await drill.set({ AUTH_ENCRYPTION_KEY: two, AUTH_ENCRYPTION_OLD_KEYS: one })
  const ahead = await drill.serve()
  const user = await signUpUser(ahead.app)

  const response = await call(behind.app, '/token?grant_type=refresh_token', user)

  assert.equal(response.statusCode, 503, response.body)
  assert.equal(response.json().error_code, 'service_unavailable')
  assert.equal(response.headers['retry-after'], '5')
  await refresh(ahead, user)
})

async function refresh({ app }: Pick<Awaited<ReturnType<typeof build>>, 'app'>, session: Session) {
  const response = await call(app, '/token?grant_type=refresh_token', {
    refresh_token: session.refresh_token,
  })
  assert.equal(response.statusCode, 200, response.body)
  return response.json<Session>()
}

/** A database, an .env file, and the servers and commands that use them. */
async function startDrill(t: TestContext, variables: Record<string, string>) {
  const { url, drop } = await cloneDatabase()
  // The servers end before their database does.
  const ends = [drop]
  t.after(async () => {
    for (const end of ends.reverse()) await end()
  })
  const ending = { after: (end: () => Promise<void>) => void ends.push(end) }
  const database = withoutDrop({ url })
  const folder = temporaryFolder(t, 'keys')
  const file = join(folder, '.env')
  let current: NodeJS.Dict<string> = {}
  const read = async () => {
    current = parseEnv(await readFile(file, 'utf8'))
  }
  const set = async (values: Record<string, string>) => {
    await writeFile(
      file,
      Object.entries(values)
        .map(([name, value]) => `${name}=${value}\n`)
        .join(''),
    )
    await read()
  }
  await set(variables)

  const given = () => {
    const own = ['AUTH_ENCRYPTION_KEY', 'AUTH_ENCRYPTION_NEXT_KEY', 'AUTH_ENCRYPTION_OLD_KEYS']
    return { ...shared, ...Object.fromEntries(own.map((name) => [name, current[name] ?? ''])) }
  }
  const command = (...args: string[]) =>
    callCommand(run, ['encryption', ...args], { ...operator, ...given(), DATABASE_URL: url })

  return {
    url,
    file,
    set,
    env: () => current,
    command,
    async rotate() {
      const output = await command('rotate', '--write', file)
      await read()
      return output
    },
    serve: ({ env = {}, dev = false }: { env?: Record<string, string>; dev?: boolean } = {}) =>
      build(ending, { env: { ...given(), ...env }, database, dev }),
  }
}

const operator = {
  AUTH_SITE_URL: 'http://app.example',
  AUTH_API_EXTERNAL_URL: 'http://auth.example',
  AUTH_DB_DRIVER: 'postgres',
}

/** Each column of each table with encrypted values, and the number of such rows. */
async function encryptedIn(url: string): Promise<Record<string, number>> {
  const columns = await query(
    url,
    `select table_name || '.' || column_name as place, format(
        'select count(*)::int as rows from auth.%I where starts_with(%I::text, ''{"key_id":"'')', table_name, column_name
      ) as statement
    from information_schema.columns where table_schema = 'auth' and data_type in ('text', 'character varying')`,
  )
  const found: Record<string, number> = {}
  for (const { place, statement } of columns) {
    const [row] = await query(url, String(statement))
    if (Number(row?.rows) > 0) found[String(place)] = Number(row?.rows)
  }
  return found
}
