/** An open invitation of an admin of the server gives a role in an organization until the admin has lost the own one. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { asAdmin } from '../../support/admin.ts'
import { createAdmin, withConsole } from '../../support/admins.ts'
import {
  as,
  createOwner,
  type Organization,
  organizationsOn,
} from '../../support/organizations/organizations.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call, statusAndCode } from '../../support/requests.ts'
import type { App } from '../../support/server.ts'
import { bodyOf200, confirmAddress, signUpUser } from '../../support/users.ts'

type Admin = Awaited<ReturnType<typeof createAdmin>>

const ends: Record<string, (app: App, admin: Admin) => Promise<unknown>> = {
  removed: (app, { id }) => asAdmin(app, 'DELETE', `/admin/admins/${id}`),
  'demoted to support': (app, { id }) =>
    asAdmin(app, 'PUT', `/admin/admins/${id}`, { role: 'support' }),
  deleted: (app, { id }) => asAdmin(app, 'DELETE', `/admin/users/${id}`),
  'deleted softly': (app, { id }) =>
    asAdmin(app, 'DELETE', `/admin/users/${id}`, { should_soft_delete: true }),
  'signed out of all devices': (app, { session }) =>
    call(app, '/logout', {}, { token: session.access_token }),
}

suite('an open invitation of an admin of the server', () => {
  const servers = sharedServers()

  async function invited() {
    const { app } = await servers({ ...withConsole, ...organizationsOn })
    const { organization } = await createOwner(app)
    const admin = await createAdmin(app, 'operator')
    const user = await signUpUser(app)
    await confirmAddress(app, user.user.id)
    const made = await admin.request(
      'POST',
      `/admin/organizations/${organization.id}/invitations`,
      {
        email: user.email,
        role: 'owner',
      },
    )
    assert.equal(made.statusCode, 201, made.body)
    const { id } = made.json<{ id: string }>()
    const accept = () => as(app, user, `POST /organizations/invitations/${id}/accept`)
    return { app, admin, accept, organization }
  }

  for (const [what, end] of Object.entries(ends)) {
    test(`is void when the admin was ${what}`, async () => {
      const { app, admin, accept } = await invited()
      await end(app, admin)
      assert.deepEqual(statusAndCode(await accept()), [404, 'organization_invitation_not_found'])
    })
  }

  test('is accepted while the admin has a role that may invite', async () => {
    const { accept, organization } = await invited()
    const accepted = bodyOf200<Organization>(await accept())
    assert.equal(accepted.id, organization.id)
  })
})
