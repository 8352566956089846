/** Organizations of an account that a user created with another user's address, which AUTH_MAILER_AUTOCONFIRM took. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../../schemas/session.ts'
import { emailAfter, open, redirectParams } from '../../support/messages/mail-journeys.ts'
import {
  adminOk,
  as,
  createMember,
  createOwner,
  ok,
  organizationsOn,
} from '../../support/organizations/organizations.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call } from '../../support/requests.ts'
import type { Built } from '../../support/server.ts'

interface Listed {
  organizations: { id: string }[]
}

interface Members {
  members: { user_id: string; role: string }[]
}

suite('AUTH_MAILER_AUTOCONFIRM: organizations of an unverified account', () => {
  const serverFor = sharedServers()

  /** The session of the first link that the owner of the address opens. */
  async function verified(server: Built, email: string) {
    const { app } = server
    const message = await emailAfter(server, email, () => call(app, '/magiclink', { email }))
    const { fragment } = redirectParams(await open(app, message))
    const token = fragment.access_token ?? assert.fail(JSON.stringify(fragment))
    return { access_token: token } as Session
  }

  test('lose the user at the first verification, unless an admin added them', async () => {
    const server = await serverFor(organizationsOn)
    const { app } = server
    const { owner: attacker, organization } = await createOwner(app)
    const { organization: work } = await createOwner(app, 'Work')
    const joined = { user_id: attacker.user.id, role: 'member' }
    await adminOk(app, `POST /admin/organizations/${work.id}/members`, joined)
    const invitation = { email: 'accomplice@example.com', role: 'admin' }
    await ok(app, attacker, `POST /organizations/${organization.id}/invitations`, invitation)
    const owner = await verified(server, attacker.email)
    const { organizations } = await ok<Listed>(app, owner, 'GET /organizations')
    assert.deepEqual(
      organizations.map(({ id }) => id),
      [work.id],
    )
    assert.equal((await as(app, owner, `GET /organizations/${organization.id}`)).statusCode, 404)
    const left = await app.db
      .selectFrom('postern_organization_invitations')
      .select('id')
      .where('organization_id', '=', organization.id)
      .execute()
    assert.deepEqual(left, [])
    const audit = `/admin/organizations/${organization.id}/audit`
    const { entries } = await adminOk<{ entries: { action: string }[] }>(app, `GET ${audit}`)
    assert.equal(entries[0]?.action, 'organization_member_removed')
  })

  test('continue without an owner until an admin names one', async () => {
    const server = await serverFor(organizationsOn)
    const { app } = server
    const { owner: attacker, organization } = await createOwner(app)
    const member = await createMember(app, organization, 'admin')
    const owner = await verified(server, attacker.email)
    const path = `/organizations/${organization.id}/members`
    const { members } = await ok<Members>(app, member, `GET ${path}`)
    assert.deepEqual(
      members.map(({ user_id, role }) => [user_id, role]),
      [[member.user.id, 'admin']],
    )
    const named = { user_id: attacker.user.id, role: 'owner' }
    assert.equal((await as(app, member, `PUT ${path}/${member.user.id}`, named)).statusCode, 403)
    await adminOk(app, `POST /admin${path}`, named)
    assert.equal((await as(app, owner, `GET /organizations/${organization.id}`)).statusCode, 200)
  })

  test('keep a user who verified the address before', async () => {
    const server = await serverFor(organizationsOn)
    const { owner: user, organization } = await createOwner(server.app)
    const owner = await verified(server, user.email)
    await adminOk(server.app, `POST /admin/organizations/${organization.id}/members`, {
      user_id: user.user.id,
      role: 'owner',
    })
    const again = await verified(server, user.email)
    for (const session of [owner, again]) {
      const seen = await as(server.app, session, `GET /organizations/${organization.id}`)
      assert.equal(seen.statusCode, 200, seen.body)
    }
  })
})
