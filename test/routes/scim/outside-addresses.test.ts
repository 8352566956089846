import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { emailAfter, open } from '../../support/messages/mail-journeys.ts'
import type { Ending } from '../../support/processes/ending.ts'
import { call } from '../../support/requests.ts'
import { findScimAccount, scimServer } from '../../support/scim/clients.ts'

const email = 'eve@elsewhere.test'
const eve = { userName: 'eve', emails: [{ value: email }] }

/** A user with an address outside of the verified domains, who confirmed it by a magic link. */
async function confirmedOutsider(t: Ending) {
  const server = await scimServer(t)
  const { app, client } = server
  const { id } = await client.create(eve)
  const message = await emailAfter(server, email, () => call(app, '/magiclink', { email }))
  assert.equal((await open(app, message)).statusCode, 303)
  const account = await findScimAccount(app, id)
  assert.ok(account.email_confirmed_at)
  return { app, client, path: `/Users/${id}`, id, account }
}

suite('accounts whose user confirmed an address outside of the verified domains', () => {
  test('keep their address when the client sends one inside of them', async (t) => {
    const { app, client, path, id } = await confirmedOutsider(t)
    const value = [{ value: 'it@corp.test' }]
    const changed = await client.patch(path, { op: 'replace', path: 'emails', value })
    assert.equal(changed.statusCode, 200, changed.body)
    assert.equal((await findScimAccount(app, id)).email, email)
  })

  test('are not deleted with the provisioned user', async (t) => {
    const { app, client, path, account } = await confirmedOutsider(t)
    assert.equal((await client.send('DELETE', path)).statusCode, 204)
    const found = await app.db
      .selectFrom('users')
      .select('email')
      .where('id', '=', account.user_id ?? '')
      .executeTakeFirst()
    assert.equal(found?.email, email)
  })
})
