import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { adminCall } from '../../support/admin.ts'
import { emailAfter, open } from '../../support/messages/mail-journeys.ts'
import { ok } from '../../support/organizations/organizations.ts'
import type { Ending } from '../../support/processes/ending.ts'
import { call, getUser } from '../../support/requests.ts'
import {
  activate,
  deactivate,
  findMemberRole,
  findScimAccount,
  scimServer,
} from '../../support/scim/clients.ts'
import { password, signedIn, signIn } from '../../support/users.ts'

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
  return { ...server, path: `/Users/${id}`, id, account }
}

suite('accounts whose user confirmed an address outside of the verified domains', () => {
  test('keep their address when the client sends one inside the verified domains', async (t) => {
    const { app, client, path, id } = await confirmedOutsider(t)
    const value = [{ value: 'it@corp.test' }]
    const changed = await client.patch(path, { op: 'replace', path: 'emails', value })
    assert.equal(changed.statusCode, 200, changed.body)
    assert.equal((await findScimAccount(app, id)).email, email)
  })

  test('can sign in after a deactivation, which suspends the membership only', async (t) => {
    const { app, client, organization, path, account } = await confirmedOutsider(t)
    const userId = account.user_id ?? ''
    await adminCall(app, 'PUT', `/admin/users/${userId}`, { password })
    const session = await signedIn(app, email)
    await ok(app, session, `POST /organizations/${organization}/join`)
    assert.equal((await client.patch(path, deactivate)).statusCode, 200)
    assert.equal((await getUser(app, session)).statusCode, 200)
    assert.equal((await signIn(app, { email })).statusCode, 200)
    assert.equal(await findMemberRole(app, organization, userId), 'member suspended scim')
    assert.equal((await client.patch(path, activate)).statusCode, 200)
    assert.equal(await findMemberRole(app, organization, userId), 'member active scim')
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
