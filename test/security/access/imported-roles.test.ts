/** `npm run users -- import`: a role of AUTH_JWT_ADMIN_ROLES is for the holder of an address. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { suite, test } from 'node:test'

import { users, writeImportFile } from '../../cli/users/command.ts'
import { build } from '../../support/server.ts'
import { newAddress, newNumber, signUp } from '../../support/users.ts'

suite('an import by the command', () => {
  test('gives an admin role only to users with a confirmed address, and records them', async (t) => {
    const { app, database } = await build(t)
    const role = 'service_role'
    const id = crypto.randomUUID()
    const squatted = newAddress()
    const file = await writeImportFile(t, 'users.ndjson', [
      { id, email: newAddress(), email_confirm: true, role },
      { email: squatted, role },
      { email: newAddress(), phone: newNumber(), phone_confirm: true, role },
      { email: newAddress() },
    ])
    await users(database.url, 'import', file)
    const report = await readFile(`${file}.refused.ndjson`, 'utf8')
    const refused = report
      .trim()
      .split('\n')
      .map((line): { line: number; reason: string } => JSON.parse(line))
    assert.deepEqual(
      refused.map(({ line }) => line),
      [2, 3],
    )
    assert.match(refused[0]?.reason ?? '', /email_confirmed_at/)
    const entries = await app.db.selectFrom('audit_log_entries').select('payload').execute()
    const traits = entries.map(({ payload }) => payload.traits)
    assert.deepEqual(traits, [{ imported: 2, refused: 2, admins: [id] }])
    assert.notEqual((await signUp(app, { email: squatted })).json().role, role)
  })
})
