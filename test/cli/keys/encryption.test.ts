/** The drill of docs/operations.md: the encryption key is changed by the commands, beside a server that serves. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'
import { parseEnv } from 'node:util'

import { run } from '../../../cli/keys.ts'
import type { Session } from '../../../schemas/session.ts'
import { query } from '../../db/sql.ts'
import { callCommand } from '../../support/command-call.ts'
import { configOf } from '../../support/config.ts'
import { cloneDatabase } from '../../support/database.ts'
import { holdSession } from '../../support/held-person.ts'
import { autoconfirm, newPerson, signIn } from '../../support/people.ts'
import { call } from '../../support/requests.ts'
import { build } from '../../support/server.ts'

const [one, two] = [randomKey(), randomKey()]
const shared = { ...autoconfirm, AUTH_JWT_SECRET: configOf().AUTH_JWT_SECRET }

suite('npm run keys -- encryption', () => {
  test('leads through a change of the key: everybody stays signed in, and the old key may go', async (t) => {
    const drill = await startDrill(t, { AUTH_ENCRYPTION_KEY: one })
    const before = await drill.serve()
    const person = await newPerson(before.app)
    assert.equal((await drill.command('status')).code, 0)

    assert.match((await drill.rotate()).stderr, /^\S+ is changed\. Step 1 of 3/)
    const next = drill.env().AUTH_ENCRYPTION_NEXT_KEY
    assert.equal(drill.env().AUTH_ENCRYPTION_KEY, one)
    // What still writes with the key of before, and what writes with the next one, serve side by side.
    const reading = await drill.serve()
    assert.match((await drill.rotate()).stderr, /Step 2 of 3/)
    assert.equal(drill.env().AUTH_ENCRYPTION_KEY, next)
    assert.equal(drill.env().AUTH_ENCRYPTION_OLD_KEYS, one)
    assert.equal(drill.env().AUTH_ENCRYPTION_NEXT_KEY, undefined)
    const writing = await drill.serve()
    const newcomer = await newPerson(writing.app)
    const [first, second] = [await refresh(reading, newcomer), await refresh(writing, person)]

    assert.match((await drill.rotate()).stderr, /reencrypt` first/)
    assert.match((await drill.command('reencrypt')).stdout, /^\d+ rows stored anew/)
    assert.match(
      (await drill.command('status')).stdout,
      /AUTH_ENCRYPTION_OLD_KEYS +is needed for nothing/,
    )
    assert.match((await drill.rotate()).stderr, /Step 3 of 3/)
    assert.equal(drill.env().AUTH_ENCRYPTION_OLD_KEYS, undefined)
    const after = await drill.serve()
    await refresh(after, first)
    await refresh(after, second)
  })

  test('gives the key that was made from AUTH_JWT_SECRET a variable, and the secret may change', async (t) => {
    const drill = await startDrill(t, {})
    // Such a database is from before a key of its own was asked for.
    const old = await drill.serve({ dev: true })
    const person = await newPerson(old.app)

    assert.match((await drill.rotate()).stderr, /made from AUTH_JWT_SECRET/)
    const env = { AUTH_JWT_SECRET: 'another secret that is as long as it has to be' }
    const { app } = await drill.serve({ env })

    await refresh({ app }, person)
  })

  test('status counts whatever is encrypted, wherever it lies', async (t) => {
    const drill = await startDrill(t, { AUTH_ENCRYPTION_KEY: one })
    const { app } = await drill.serve()
    await newPerson(app)

    const { stdout } = await drill.command('status')

    const counted = [...stdout.matchAll(/^ {2}(\d+) in (\S+)$/gm)].map(([, rows, place]) => [
      place,
      Number(rows),
    ])
    assert.deepEqual(Object.fromEntries(counted), await encryptedIn(drill.url))
  })

  test('status fails for what is encrypted with a key that is missing', async (t) => {
    const drill = await startDrill(t, { AUTH_ENCRYPTION_KEY: one })
    await drill.serve()
    await drill.set({ AUTH_ENCRYPTION_KEY: two })

    const { stdout, code } = await drill.command('status')

    assert.equal(code, 1)
    assert.match(stdout, /not configured: \d+ rows? cannot be read/)
  })

  test('reencrypt waits for a session with none of the others in hand', async (t) => {
    const drill = await startDrill(t, { AUTH_ENCRYPTION_KEY: one })
    const { app } = await drill.serve()
    const person = await newPerson(app)
    for (let count = 0; count < 2; count++) await signIn(app, { email: person.email })
    await drill.set({ AUTH_ENCRYPTION_KEY: two, AUTH_ENCRYPTION_OLD_KEYS: one })
    const stored = await query(drill.url, 'select id::text from auth.sessions order by ctid')
    const ids = stored.map(({ id }) => String(id))
    // Neither the first in the table nor the first by id.
    const wanted = ids.slice(1).toSorted().at(-1) ?? ''
    const others = ids.filter((id) => id !== wanted)
    const held = await holdSession(app, wanted)

    const { answer } = await held.queue(1, () => drill.command('reencrypt'))
    const free = await query(drill.url, {
      text: 'select from auth.sessions where id = any($1) for update skip locked',
      values: [others],
    })
    await held.release()

    assert.equal(free.length, others.length)
    assert.match((await answer).stdout, /^\d+ rows stored anew/)
    assert.match((await drill.command('status')).stdout, /OLD_KEYS +is needed for nothing/)
  })

  test('rotate keeps every other line of the file, and its secrets to its owner', async (t) => {
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

test('a new database asks for an encryption key of its own, but in development', async (t) => {
  const database = await cloneDatabase(t)
  const env = { AUTH_ENCRYPTION_KEY: '' }
  await assert.rejects(
    build(t, { env, database }),
    /AUTH_ENCRYPTION_KEY is not set.*npm run secrets/,
  )
  await build(t, { env, database, dev: true })
})

test('what another replica encrypted with a key that is missing here may be asked for again', async (t) => {
  const drill = await startDrill(t, { AUTH_ENCRYPTION_KEY: one })
  const behind = await drill.serve()
  await drill.set({ AUTH_ENCRYPTION_KEY: two, AUTH_ENCRYPTION_OLD_KEYS: one })
  const ahead = await drill.serve()
  const person = await newPerson(ahead.app)

  const answer = await call(behind.app, '/token?grant_type=refresh_token', person)

  assert.equal(answer.statusCode, 503, answer.body)
  assert.equal(answer.json().error_code, 'service_unavailable')
  assert.equal(answer.headers['retry-after'], '5')
  await refresh(ahead, person)
})

async function refresh({ app }: Pick<Awaited<ReturnType<typeof build>>, 'app'>, session: Session) {
  const answer = await call(app, '/token?grant_type=refresh_token', {
    refresh_token: session.refresh_token,
  })
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json<Session>()
}

/** A database, an .env file, and the servers and commands that read both. */
async function startDrill(t: TestContext, variables: Record<string, string>) {
  const { url, drop } = await cloneDatabase()
  // The servers end before their database does.
  const ends = [drop]
  t.after(async () => {
    for (const end of ends.reverse()) await end()
  })
  const ending = { after: (end: () => Promise<void>) => void ends.push(end) }
  const database = { url, drop: async () => {} }
  const folder = await mkdtemp(join(tmpdir(), 'postern-keys-'))
  t.after(() => rm(folder, { recursive: true }))
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
      const said = await command('rotate', '--write', file)
      await read()
      return said
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

/** Every column of every table that holds what looks like our stored form, with how many rows of it. */
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
