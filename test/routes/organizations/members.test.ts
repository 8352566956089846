import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'

import { asAdmin } from '../../support/admin.ts'
import {
  adminOk,
  as,
  createMember,
  createOwner,
  ok,
  organizationsOn,
} from '../../support/organizations/organizations.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { statusAndCode } from '../../support/requests.ts'
import type { App } from '../../support/server.ts'
import { allEvents } from '../../support/webhooks/events.ts'

suite('members of an organization', () => {
  const serverFor = sharedServers()
  let app: App
  before(async () => {
    app = (await serverFor({ ...organizationsOn, AUTH_EVENTS_ENABLED: 'true' })).app
  })

  const memberPath = (id: string, { user }: { user: { id: string } }) =>
    `/organizations/${id}/members/${user.id}`

  test('include an owner: the last one cannot leave or be demoted, removed or deleted', async () => {
    const { owner, organization } = await createOwner(app)
    const { id } = organization
    const path = memberPath(id, owner)
    const rejected = [422, 'last_owner']
    assert.deepEqual(
      statusAndCode(await as(app, owner, `POST /organizations/${id}/leave`)),
      rejected,
    )
    assert.deepEqual(
      statusAndCode(await as(app, owner, `PUT ${path}`, { role: 'admin' })),
      rejected,
    )
    assert.deepEqual(statusAndCode(await as(app, owner, `DELETE ${path}`)), rejected)
    const url = `/admin/users/${owner.user.id}`
    assert.deepEqual(statusAndCode(await asAdmin(app, 'DELETE', url)), rejected)
    const soft = { should_soft_delete: true }
    assert.deepEqual(statusAndCode(await asAdmin(app, 'DELETE', url, soft)), rejected)
    const second = await createMember(app, organization, 'owner')
    await ok(app, owner, `POST /organizations/${id}/leave`)
    await ok(app, second, `GET /organizations/${id}`)
  })

  test('lose their memberships when the account is deleted or soft-deleted', async () => {
    const { owner, organization } = await createOwner(app)
    const member = await createMember(app, organization)
    const body = { should_soft_delete: true }
    await adminOk(app, `DELETE /admin/users/${member.user.id}`, body)
    const read = await as(app, owner, `GET ${memberPath(organization.id, member)}`)
    assert.deepEqual(statusAndCode(read), [404, 'member_not_found'])
  })

  test('cannot assign a role or change a member with more permissions than their own', async () => {
    const { owner, organization } = await createOwner(app)
    const { id } = organization
    const admin = await createMember(app, organization, 'admin')
    const member = await createMember(app, organization)
    const high = [403, 'organization_role_too_high']
    const put = (path: string, role: string) => as(app, admin, `PUT ${path}`, { role })
    assert.deepEqual(statusAndCode(await put(memberPath(id, member), 'owner')), high)
    assert.deepEqual(statusAndCode(await put(memberPath(id, admin), 'owner')), high)
    assert.deepEqual(statusAndCode(await put(memberPath(id, owner), 'member')), high)
    assert.deepEqual(statusAndCode(await as(app, admin, `DELETE ${memberPath(id, owner)}`)), high)
    const role = { name: 'sneaky', permissions: ['organization:delete'] }
    assert.deepEqual(
      statusAndCode(await as(app, admin, `POST /organizations/${id}/roles`, role)),
      high,
    )
    const invitation = { email: 'a@example.com', role: 'owner' }
    const invite = await as(app, admin, `POST /organizations/${id}/invitations`, invitation)
    assert.deepEqual(statusAndCode(invite), high)
    assert.equal((await put(memberPath(id, member), 'admin')).statusCode, 200)
  })

  test('need an existing role, and a role in use cannot be deleted', async () => {
    const { owner, organization } = await createOwner(app)
    const roles = `/organizations/${organization.id}/roles`
    const member = await createMember(app, organization)
    const path = memberPath(organization.id, member)
    const unknown = await as(app, owner, `PUT ${path}`, { role: 'editor' })
    assert.deepEqual(statusAndCode(unknown), [422, 'organization_role_not_found'])
    await ok(app, owner, `POST ${roles}`, { name: 'editor', permissions: ['todos:write'] })
    await ok(app, owner, `PUT ${path}`, { role: 'editor' })
    const removal = await as(app, owner, `DELETE ${roles}/editor`)
    assert.deepEqual(statusAndCode(removal), [409, 'organization_role_in_use'])
    for (const name of ['owner', 'editor']) {
      const taken = await as(app, owner, `POST ${roles}`, { name, permissions: [] })
      assert.deepEqual(statusAndCode(taken), [409, 'organization_role_exists'])
    }
    await ok(app, owner, `PUT ${path}`, { role: 'member' })
    await ok(app, owner, `DELETE ${roles}/editor`)
  })

  test('are limited to AUTH_ORGANIZATIONS_MAX_MEMBERS', async () => {
    const env = { ...organizationsOn, AUTH_ORGANIZATIONS_MAX_MEMBERS: '1' }
    const { app: limited } = await serverFor(env)
    const { organization } = await createOwner(limited)
    const other = await createOwner(limited)
    const body = { user_id: other.owner.user.id }
    const path = `/admin/organizations/${organization.id}/members`
    const added = await asAdmin(limited, 'POST', path, body)
    assert.deepEqual(statusAndCode(added), [422, 'organization_limit_reached'])
  })

  test('are recorded in the audit log of the organization and in the event stream', async () => {
    const { owner, organization } = await createOwner(app)
    const { id } = organization
    const member = await createMember(app, organization)
    await ok(app, owner, `PUT ${memberPath(id, member)}`, { role: 'admin' })
    await ok(app, owner, `DELETE ${memberPath(id, member)}`)
    interface Entry {
      action: string
      actor_id: string | null
    }
    const { entries } = await ok<{ entries: Entry[] }>(app, owner, `GET /organizations/${id}/audit`)
    assert.deepEqual(
      entries.slice(0, 3).map(({ action, actor_id }) => [action, actor_id === owner.user.id]),
      [
        ['organization_member_removed', true],
        ['organization_member_updated', true],
        ['organization_member_added', false],
      ],
    )
    // Both have the time of their request.
    const first = entries.slice(3).map(({ action }) => action)
    assert.deepEqual(first.toSorted(), ['organization_created', 'organization_member_added'])
    const events = (await allEvents(app, member.user.id, 6)).slice(3)
    assert.deepEqual(
      events.map(({ type, data }) => [type, data.organization_id, data.role]),
      [
        ['organization.member_added', id, 'member'],
        ['organization.member_updated', id, 'admin'],
        ['organization.member_removed', id, 'admin'],
      ],
    )
  })
})
