/** The organization in access tokens. */
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'

import {
  adminOk,
  as,
  createMember,
  createOwner,
  ok,
  organizationsOn,
  refreshedClaims,
} from '../../support/organizations/organizations.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call, refresh, statusAndCode } from '../../support/requests.ts'
import type { App } from '../../support/server.ts'
import { watchStatements } from '../../support/statements.ts'

const current = 'PUT /user/sessions/current'

suite('access token for an organization', () => {
  const serverFor = sharedServers()
  let app: App
  before(async () => {
    app = (await serverFor(organizationsOn)).app
  })

  test('contains the active organization of the session from the next refresh on', async () => {
    const { owner, organization } = await createOwner(app)
    const before = await refreshedClaims(app, owner)
    assert.equal(before.claims.org_id, undefined)
    await ok(app, owner, current, { organization_id: organization.id })
    const { claims, session } = await refreshedClaims(app, before.session)
    const { org_id, org_slug, org_role, org_permissions } = claims
    assert.deepEqual(
      [org_id, org_slug, org_role, org_permissions],
      [organization.id, organization.slug, 'owner', ['*']],
    )
    await ok(app, owner, current, { organization_id: null })
    assert.equal((await refreshedClaims(app, session)).claims.org_id, undefined)
  })

  test('contains the organization named at the refresh, and the session keeps its active one', async () => {
    const { owner, organization: first } = await createOwner(app)
    const second = await ok<{ id: string }>(app, owner, 'POST /organizations', { name: 'Second' })
    await ok(app, owner, current, { organization_id: first.id })
    const other = await refreshedClaims(app, owner, second.id)
    assert.equal(other.claims.org_id, second.id)
    assert.equal((await refreshedClaims(app, other.session)).claims.org_id, first.id)
  })

  test('is not issued to a user who is not a member, and the refresh token stays valid', async () => {
    const { owner } = await createOwner(app)
    const { organization: foreign } = await createOwner(app)
    const body = { refresh_token: owner.refresh_token, organization_id: foreign.id }
    const rejected = await call(app, '/token?grant_type=refresh_token', body)
    assert.deepEqual(statusAndCode(rejected), [404, 'organization_not_found'])
    assert.equal((await refresh(app, owner.refresh_token)).statusCode, 200)
  })

  test('has the permissions of a custom role, and of a server-wide role of the same name', async () => {
    const { owner, organization } = await createOwner(app)
    const role = { name: 'editor', permissions: ['todos:write'] }
    await ok(app, owner, `POST /organizations/${organization.id}/roles`, role)
    const member = await createMember(app, organization, 'editor')
    const { claims } = await refreshedClaims(app, member, organization.id)
    assert.deepEqual([claims.org_role, claims.org_permissions], ['editor', ['todos:write']])
    const added = { name: 'member', permissions: ['todos:read'] }
    await adminOk(app, 'POST /admin/organization-roles', added)
    const plain = await createMember(app, organization)
    const token = await refreshedClaims(app, plain, organization.id)
    assert.deepEqual(token.claims.org_permissions?.toSorted(), [
      'members:read',
      'organization:read',
      'todos:read',
    ])
    await adminOk(app, 'DELETE /admin/organization-roles/member')
  })

  test('contains the role without permissions when there are more than 32', async () => {
    const { owner, organization } = await createOwner(app)
    const permissions = Array.from({ length: 33 }, (_, i) => `things:do${i}`)
    const role = { name: 'many', permissions }
    await ok(app, owner, `POST /organizations/${organization.id}/roles`, role)
    const member = await createMember(app, organization, 'many')
    const { claims } = await refreshedClaims(app, member, organization.id)
    assert.deepEqual([claims.org_role, claims.org_permissions], ['many', undefined])
  })

  test('has the claims of AUTH_ORGANIZATIONS_CLAIMS', async () => {
    const env = { ...organizationsOn, AUTH_ORGANIZATIONS_CLAIMS: 'org_id,org_role' }
    const { app: few } = await serverFor(env)
    const { owner, organization } = await createOwner(few)
    const { claims } = await refreshedClaims(few, owner, organization.id)
    const names = Object.keys(claims).filter((name) => name.startsWith('org_'))
    assert.deepEqual(names, ['org_id', 'org_role'])
  })

  test('loses the organization when the member is removed', async () => {
    const { owner, organization } = await createOwner(app)
    const member = await createMember(app, organization)
    await ok(app, member, current, { organization_id: organization.id })
    const first = await refreshedClaims(app, member)
    assert.equal(first.claims.org_id, organization.id)
    await ok(app, owner, `DELETE /organizations/${organization.id}/members/${member.user.id}`)
    assert.equal((await refreshedClaims(app, first.session)).claims.org_id, undefined)
    const read = await as(app, first.session, `GET /organizations/${organization.id}`)
    assert.deepEqual(statusAndCode(read), [404, 'organization_not_found'])
  })

  test('has the new role from the next refresh on', async () => {
    const { owner, organization } = await createOwner(app)
    const member = await createMember(app, organization)
    await ok(app, member, current, { organization_id: organization.id })
    const path = `/organizations/${organization.id}/members/${member.user.id}`
    await ok(app, owner, `PUT ${path}`, { role: 'admin' })
    assert.equal((await refreshedClaims(app, member)).claims.org_role, 'admin')
  })

  test('cannot be switched to an organization of which the user is not a member', async () => {
    const { owner } = await createOwner(app)
    const { organization: foreign } = await createOwner(app)
    const response = await as(app, owner, current, { organization_id: foreign.id })
    assert.deepEqual(statusAndCode(response), [404, 'organization_not_found'])
  })

  test('is issued in one statement, with an organization and without', async () => {
    const { owner, organization } = await createOwner(app)
    await ok(app, owner, current, { organization_id: organization.id })
    const statements = await watchStatements(app, () => refresh(app, owner.refresh_token))
    const own = statements.filter((text) => /"(users|sessions|postern_organizations)"/.test(text))
    assert.equal(own.length, 1)
  })
})
