/** A soft deletion keeps the row, hashed identities and audit entries of a user. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../../schemas/session.ts'
import { adminCall } from '../../support/admin.ts'
import { createClient, oauthServer, signInClient } from '../../support/oauth-server.ts'
import { type App, build } from '../../support/server.ts'
import { bodyOf200, newAddress, signUp } from '../../support/users.ts'

const kept = ['identities', 'postern_events', 'postern_mail_messages']

/** Tables with rows of the user. */
async function tablesWith(app: App, userId: string): Promise<string[]> {
  const { rows } = await app.pool.query<{ name: string }>(
    `select table_name as name from information_schema.columns join information_schema.tables
      using (table_schema, table_name)
     where table_schema = 'auth' and column_name = 'user_id' and table_type = 'BASE TABLE'`,
  )
  const found: string[] = []
  for (const { name } of rows) {
    const { rowCount } = await app.pool.query(
      `select from auth.${name} where user_id::text = $1 limit 1`,
      [userId],
    )
    if (rowCount) found.push(name)
  }
  return found.toSorted()
}

suite('soft deletion', () => {
  test('removes addresses, names, devices and consents of the user and frees the username', async (t) => {
    const env = { ...oauthServer, AUTH_USERNAMES_ENABLED: 'true' }
    const { app } = await build(t, { env })
    const [email, username] = [newAddress(), 'anna.lee']
    const session: Session = bodyOf200(await signUp(app, { email }, { username }))
    const { id } = session.user
    await signInClient(app, await createClient(app), session, { scope: 'email' })
    const before = await tablesWith(app, id)
    for (const name of [
      'oauth_consents',
      'postern_autoconfirmed_addresses',
      'postern_known_devices',
      'postern_usernames',
      'sessions',
    ]) {
      assert.ok(before.includes(name), name)
    }
    await adminCall(app, 'DELETE', `/admin/users/${id}`, { should_soft_delete: true })
    const left = (await tablesWith(app, id)).filter((name) => !kept.includes(name))
    assert.deepEqual(left, [])
    bodyOf200(await signUp(app, { email }, { username }))
  })
})
