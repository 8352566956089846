/** Import: accepted and rejected users, and resuming after an interruption. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { suite, test } from 'node:test'

import { openReport } from '../../../cli/users/import.ts'
import { query } from '../../db/sql.ts'
import { cloneDatabase } from '../../support/database.ts'
import type { CliProcess } from '../../support/processes/cli-process.ts'
import { temporaryFolder } from '../../support/processes/temporary-folder.ts'
import { until } from '../../support/processes/until.ts'
import { build } from '../../support/server.ts'
import { password, signIn } from '../../support/users.ts'
import {
  google,
  listAllUsers,
  passwordHash,
  startUsers,
  users,
  writeImportFile,
} from './command.ts'

suite('users import', () => {
  test('imported users sign in with their password', async (t) => {
    const { app, database } = await build(t)
    const django = 'pbkdf2_sha256$20000$seasalt2$Flpve/uAcyo6+IFI6YAhjeABGPVbRQjzHDxRhqxewgw='
    const file = await writeImportFile(t, 'users.ndjson', [
      { email: 'Ann@Example.com', password_hash: passwordHash, email_confirm: true },
      {
        email: 'bob@example.com',
        password_hash: django,
        email_confirmed_at: '2020-01-01T00:00:00Z',
      },
      { email: 'of-a-company@example.com', is_sso_user: true },
    ])
    const { written, ended } = startUsers(t, database.url, 'import', file)
    await ended
    assert.match(written.out, /^3 imported, 0 rejected/)
    const [{ owned } = {}] = await query(
      database.url,
      'select count(*) as owned from auth.identities join auth.users u on u.id = user_id where is_sso_user',
    )
    assert.equal(owned, '0', 'an address that a company manages is no way to sign in')
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

  test('an email counts as verified when it is confirmed', async (t) => {
    const { url } = await cloneDatabase(t)
    const file = await writeImportFile(t, 'users.ndjson', [
      { email: 'ann@b.co', email_confirm: true, phone: '15550100' },
      { email: 'bob@b.co', phone: '15550101', phone_confirm: true },
    ])
    await users(url, 'import', file)
    const verified = await query(
      url,
      `select users.email, provider, identity_data - 'sub' - 'email' - 'phone' as proven
       from auth.users join auth.identities on user_id = users.id order by users.email, provider`,
    )
    const [none, byEmail, byPhone] = [
      { email_verified: false, phone_verified: false },
      { email_verified: true, phone_verified: false },
      { email_verified: false, phone_verified: true },
    ]
    assert.deepEqual(verified, [
      { email: 'ann@b.co', provider: 'email', proven: byEmail },
      { email: 'ann@b.co', provider: 'phone', proven: none },
      { email: 'bob@b.co', provider: 'email', proven: none },
      { email: 'bob@b.co', provider: 'phone', proven: byPhone },
    ])
  })

  test('reports rejected rows with reasons and imports all others', async (t) => {
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
      [{ email: 'a@b.co', password: 'clear' }, /plain-text/],
      [{ email: 'a@b.co', password_hash: 'md5' }, /unknown format/],
      [{ email: 'a@b.co', created_at: 'yesterday' }, /created_at is not a time/],
      [{ email: 'a@b.co', created_at: '+100000-01-01T00:00:00Z' }, /created_at is not a time/],
      [{ email: 'a@b.co', user_metadata: 7 }, /user_metadata is not an object/],
      [{ email: 'a@b.co', user_metadata: { a: '\u0000' } }, /cannot store/],
      [{ email: 'a@b.co', user_metadata: { a: '\ud800' } }, /cannot store/],
      [{ email: 'a@b.co', identities: [{ provider: 'google' }] }, /provider_id/],
      [{ email: 'taken@b.co' }, /a user already has this email/],
      [{ email: 'FIRST@b.co' }, /a user already has this email/],
      [{ email: 'g1@b.co', identities: [google] }, undefined],
      [{ email: 'g2@b.co', identities: [google] }, /already has one of its identities/],
      [{ email: 'g3@b.co', identities: [{ ...google, provider_id: endless }] }, /index row size/],
      [`{"email":"deep@b.co","user_metadata":{"a":${nested(5_000)}}}`, /nested/],
      [`{"email":"deeper@b.co","user_metadata":{"a":${nested(50_000)}}}`, /nested/],
      [{ email: 'slash@b.co', user_metadata: { a: String.raw`\u0000 😀` } }, undefined],
      [{ email: 'last@b.co' }, undefined],
    ]
    const file = await writeImportFile(
      t,
      'users.ndjson',
      rows.map(([row]) => row),
    )
    const { stdout } = await users(url, 'import', file)
    const expected = rows.flatMap(([, reason], i) => (reason ? [{ line: i + 1, reason }] : []))
    assert.match(
      stdout,
      new RegExp(`^${rows.length - expected.length} imported, ${expected.length} rejected`),
    )
    const report = await readReport(file)
    assert.deepEqual(
      report.map(({ line }) => line),
      expected.map(({ line }) => line),
    )
    for (const [i, { reason }] of expected.entries()) assert.match(report[i]?.reason ?? '', reason)
    const emails = (await listAllUsers(url)).map(({ email }) => email).sort()
    assert.deepEqual(emails, ['first@b.co', 'g1@b.co', 'last@b.co', 'slash@b.co', 'taken@b.co'])
  })

  test('a dry run reports the same rows as an import and stores nothing', async (t) => {
    const { url } = await cloneDatabase(t)
    const file = await writeImportFile(t, 'users.ndjson', [
      { email: 'a@b.co' },
      { email: 'nonsense' },
    ])
    const { stdout } = await users(url, 'import', file, '--dry-run')
    assert.match(stdout, /^1 could be imported, 1 rejected/)
    assert.equal((await readReport(file)).length, 1)
    assert.deepEqual(await listAllUsers(url), [])
  })

  test('resumes a killed import without duplicates or losses', async (t) => {
    const { url } = await cloneDatabase(t)
    const count = Number(process.env.TEST_IMPORT_ROWS ?? 8_000)
    const accounts = Array.from({ length: count }, (_, i) =>
      // Every thousandth is rejected, so that the report has to go on as well.
      i % 1000 === 7 ? { email: 'nonsense' } : { email: `member-${i}@example.com` },
    )
    const file = await writeImportFile(t, 'users.ndjson', accounts)
    for (const share of [0.3, 0.6]) {
      const { child, ended } = startUsers(t, url, 'import', file, '--resume')
      await untilImported(url, count * share, child)
      child.kill('SIGKILL')
      await ended
      assert.ok((await countUsers(url)) < count * 0.95, 'it was killed too late to show anything')
    }
    const { stderr } = await users(url, 'import', file)
    assert.match(stderr, /was stopped after \d+ rows\. Add --resume/)

    const { stdout } = await users(url, 'import', file, '--resume')

    const rejected = accounts.filter(({ email }) => email === 'nonsense').length
    assert.match(stdout, new RegExp(`^${count - rejected} imported, ${rejected} rejected`))
    assert.equal(await countUsers(url), count - rejected)
    assert.equal((await readReport(file)).length, rejected)
    const [{ lone } = {}] = await query(
      url,
      `select count(*) as lone from auth.users
       where not exists (select from auth.identities where user_id = users.id)`,
    )
    assert.equal(Number(lone), 0)
  })

  test('imports no user twice when a completed import is resumed', async (t) => {
    const { url } = await cloneDatabase(t)
    // Nothing of this user is unique.
    const file = await writeImportFile(t, 'users.ndjson', [
      { is_anonymous: true },
      { email: 'nonsense' },
    ])
    const first = await users(url, 'import', file, '--resume')

    const { stdout } = await users(url, 'import', file, '--resume')

    assert.match(stdout, /^1 imported, 1 rejected/)
    assert.match(first.stdout, /^1 imported, 1 rejected/)
    assert.equal(await countUsers(url), 1)
    assert.equal((await readReport(file)).length, 1)
  })

  test('a resumed report drops repeated and incomplete lines', async (t) => {
    const path = join(temporaryFolder(t, 'import'), 'report')
    const lines = [2, 5, 9].map((line) => JSON.stringify({ line, reason: '{' }))
    await writeFile(path, `${lines.join('\n')}\n{"line":4,"rea`)
    await openReport(path, 5)
    assert.equal(await readFile(path, 'utf8'), `${lines.slice(0, 2).join('\n')}\n`)
  })

  test('starts again with --restart or after a completed import', async (t) => {
    const { url } = await cloneDatabase(t)
    const file = await writeImportFile(t, 'users.ndjson', [{ is_anonymous: true }])
    for (const [count, args] of [[], [], ['--restart']].entries()) {
      const { stdout, stderr } = await users(url, 'import', file, ...args)
      assert.match(stdout, /^1 imported, 0 rejected/, stderr)
      assert.equal(await countUsers(url), count + 1)
    }
  })

  test('rejects a second import of the same file while one runs', async (t) => {
    const { url } = await cloneDatabase(t)
    const file = await writeImportFile(t, 'users.ndjson', [{ is_anonymous: true }])
    await query(
      url,
      `create function other_import() returns trigger language plpgsql as
       $$ begin update auth.postern_imports set settled = 1; return null; end $$`,
      'create trigger meanwhile before insert on auth.users execute function other_import()',
    )
    const { stderr, code } = await users(url, 'import', file)
    assert.match(stderr, /Another import of this file is running/)
    assert.equal(code, 1)
    assert.equal(await countUsers(url), 0)

    await query(url, 'drop trigger meanwhile on auth.users')
    assert.match((await users(url, 'import', file)).stdout, /^1 imported/)
  })

  test('reports the line of malformed CSV', async (t) => {
    const { url } = await cloneDatabase(t)
    const file = join(temporaryFolder(t, 'import'), 'users.csv')
    await writeFile(file, 'email,phone\na@b.co,\n"b@b.co,\n')
    const { stderr, code } = await users(url, 'import', file)
    assert.match(stderr, /line 3|line 4/)
    assert.equal(code, 1)
  })
})

/** Longer than an index entry may be, and incompressible. */
const endless = randomBytes(6_000).toString('base64')

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)

async function countUsers(url: string): Promise<number> {
  const [{ count } = {}] = await query(url, 'select count(*) from auth.users')
  return Number(count)
}

async function untilImported(
  url: string,
  users: number,
  child: CliProcess['child'],
): Promise<void> {
  await until(
    async () => {
      if (child.exitCode !== null) assert.fail('the command ended before it was killed')
      return (await countUsers(url)) >= users
    },
    // The size of the file is configurable.
    { everyMs: 5, seconds: 3600, missing: 'too few users were imported' },
  )
}

async function readReport(file: string): Promise<{ line: number; reason: string }[]> {
  const text = await readFile(`${file}.refused.ndjson`, 'utf8')
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
}
