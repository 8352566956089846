/** Import: what is stored of a row, what is left out, and what is recorded. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { query } from '../../db/sql.ts'
import { cloneDatabase } from '../../support/database.ts'
import { google, listAllUsers, users, writeImportFile } from './command.ts'

suite('users import: fields', () => {
  test('names each field that is not stored, with the number of rows', async (t) => {
    const { url } = await cloneDatabase(t)
    const file = await writeImportFile(t, 'users.ndjson', [
      { email: 'ann@b.co', nickname: 'Ann', is_super_admin: null, groups: [], confirmed: false },
      { email: 'bob@b.co', nickname: 'Bob', user_metadata: { a: 1 }, raw_user_meta_data: { b: 1 } },
      { email: 'eve@b.co', identities: [{ ...google, access_token: 'x' }], '\u001b[2J': 1 },
      { email: 'nonsense', nickname: 'a rejected row is reported by itself' },
    ])
    const names =
      'left out: nickname (2), confirmed (1), raw_user_meta_data (1), ?[2J (1), identities.access_token (1)'
    for (const args of [['--dry-run'], []]) {
      const { stdout } = await users(url, 'import', file, ...args)
      assert.equal(stdout.split('\n')[1], names)
    }
  })

  test('names the columns of a CSV file that are not stored', async (t) => {
    const { url } = await cloneDatabase(t)
    const file = await writeImportFile(t, 'users.csv', ['email,nickname', 'a@b.co,Ann', 'c@b.co,'])
    assert.match((await users(url, 'import', file)).stdout, /^left out: nickname \(1\)$/m)
  })

  test('prints at most a hundred names', async (t) => {
    const { url } = await cloneDatabase(t)
    const rows = Array.from({ length: 150 }, (_, i) => ({ email: `a${i}@b.co`, [`f${i}`]: 1 }))
    const { stdout } = await users(url, 'import', await writeImportFile(t, 'users.ndjson', rows))
    assert.match(stdout, /f99 \(1\), other fields \(50\)$/m)
  })

  test('completes an email or phone identity without id from the row', async (t) => {
    const { url } = await cloneDatabase(t)
    const file = await writeImportFile(t, 'users.ndjson', [
      {
        email: 'Ann@b.co',
        email_confirm: true,
        phone: '15550100',
        identities: [{ provider: 'email' }, { provider: 'phone' }, google],
      },
      { email: 'bob@b.co', identities: [{ provider: 'phone' }] },
    ])
    assert.match((await users(url, 'import', file)).stdout, /^1 imported, 1 rejected/)
    const identities = await query(
      url,
      `select provider, provider_id = user_id::text as own, identity_data - 'sub' as data
       from auth.identities where provider <> 'google' order by provider`,
    )
    const verified = { email_verified: true, phone_verified: false }
    assert.deepEqual(identities, [
      { provider: 'email', own: true, data: { email: 'ann@b.co', ...verified } },
      {
        provider: 'phone',
        own: true,
        data: { ...verified, phone: '15550100', email_verified: false },
      },
    ])
  })

  test('reads a time without zone as UTC', async (t) => {
    const { url } = await cloneDatabase(t)
    const times = ['2024-02-01T10:00:00', '2024-02-01 10:00:00.5', '2024-02-01 12:00:00+02']
    const rows = times.map((created_at) => ({ is_anonymous: true, created_at }))
    const timezone = process.env.TZ
    process.env.TZ = 'America/New_York'
    t.after(() => {
      if (timezone === undefined) delete process.env.TZ
      else process.env.TZ = timezone
    })
    await users(url, 'import', await writeImportFile(t, 'users.ndjson', rows))
    for (const { created_at } of await listAllUsers(url)) {
      assert.match(new Date(String(created_at)).toISOString(), /^2024-02-01T10:00:00/)
    }
  })

  test('records the users of an import that was interrupted', async (t) => {
    const { url } = await cloneDatabase(t)
    const rows = Array.from({ length: 1_500 }, (_, i) => ({ email: `a${i}@b.co` }))
    await query(
      url,
      `create function fail() returns trigger language plpgsql as
       $$ begin raise exception using errcode = 'XX000', message = 'stop'; end $$`,
      `create trigger fail before insert on auth.users for each row
       when (new.email = 'a1200@b.co') execute function fail()`,
    )
    const { code } = await users(url, 'import', await writeImportFile(t, 'users.ndjson', rows))
    assert.equal(code, 1)
    const entries = await query(
      url,
      `select payload -> 'traits' -> 'imported' as imported from auth.audit_log_entries
       where payload ->> 'action' = 'users_imported'`,
    )
    assert.deepEqual(entries, [{ imported: 1_000 }])
    assert.equal((await listAllUsers(url)).length, 1_000)
  })
})
