/** A SCIM client against the owner of an address outside of the verified domains, who has no account yet. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { emailAfter, open } from '../../support/messages/mail-journeys.ts'
import { call } from '../../support/requests.ts'
import {
  deactivate,
  findMemberRole,
  findScimAccount,
  type ScimClient,
  scimServer,
} from '../../support/scim/clients.ts'
import { password } from '../../support/users.ts'

const email = 'eve@elsewhere.test'
const eve = { userName: 'eve', emails: [{ value: email }] }

const attacks: Record<string, (client: ScimClient) => Promise<{ id: string }>> = {
  'creates the user inactive': (client) => client.create({ ...eve, active: false }),
  'deactivates the user': async (client) => {
    const user = await client.create(eve)
    assert.equal((await client.patch(`/Users/${user.id}`, deactivate)).statusCode, 200)
    return user
  },
  'deactivates the user, and deletes it': async (client) => {
    const user = await client.create(eve)
    await client.patch(`/Users/${user.id}`, deactivate)
    assert.equal((await client.send('DELETE', `/Users/${user.id}`)).statusCode, 204)
    return user
  },
}

suite('the owner of an address outside of the verified domains', () => {
  for (const [title, attack] of Object.entries(attacks)) {
    test(`can sign up after a SCIM client ${title}`, async (t) => {
      const server = await scimServer(t)
      const { app, client, organization } = server
      const { id } = await attack(client)
      const message = await emailAfter(server, email, () =>
        call(app, '/signup', { email, password }),
      )
      const { location } = (await open(app, message)).headers
      assert.match(String(location), /#access_token=/)
      const { user_id } = await findScimAccount(app, id)
      const role = user_id && (await findMemberRole(app, organization, user_id))
      assert.notEqual(role, 'member active scim')
    })
  }
})
