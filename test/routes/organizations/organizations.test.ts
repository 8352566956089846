import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'

import {
  adminOk,
  as,
  createMember,
  createOwner,
  type Organization,
  ok,
  organizationsOn,
} from '../../support/organizations/organizations.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call, statusAndCode } from '../../support/requests.ts'
import type { App } from '../../support/server.ts'
import { autoconfirm, signUpUser } from '../../support/users.ts'

suite('organizations', () => {
  const serverFor = sharedServers()
  let app: App
  before(async () => {
    app = (await serverFor(organizationsOn)).app
  })

  test('are created by a user, who becomes the owner', async () => {
    const { owner, organization } = await createOwner(app, 'Müller & Söhne')
    assert.equal(organization.slug, 'muller-sohne')
    const { organizations } = await ok<{ organizations: object[] }>(
      app,
      owner,
      'GET /organizations',
    )
    assert.partialDeepStrictEqual(organizations, [
      { id: organization.id, role: 'owner', permissions: ['*'], joined_by: 'creation' },
    ])
  })

  test('get a different slug when the slug of the name is taken', async () => {
    const { organization: first } = await createOwner(app, 'Twice')
    const { organization: second } = await createOwner(app, 'Twice')
    assert.equal(first.slug, 'twice')
    assert.match(second.slug, /^twice-[0-9a-f]{8}$/)
  })

  test('reject a slug that is taken or malformed', async () => {
    const { owner, organization } = await createOwner(app)
    const create = (slug: string) => as(app, owner, 'POST /organizations', { name: 'X', slug })
    assert.deepEqual(statusAndCode(await create(organization.slug)), [
      409,
      'organization_slug_taken',
    ])
    assert.deepEqual(statusAndCode(await create('Not-A-Slug')), [422, 'validation_failed'])
  })

  test('are changed only in the fields that are sent', async () => {
    const { owner, organization } = await createOwner(app, 'Before')
    const path = `/organizations/${organization.id}`
    const change = { name: 'After', joining: { domain: 'suggested' }, metadata: { plan: 'gold' } }
    await ok(app, owner, `PUT ${path}`, change)
    const found = await ok(app, owner, `GET ${path}`)
    assert.partialDeepStrictEqual(found, {
      slug: organization.slug,
      name: 'After',
      metadata: { plan: 'gold' },
      joining: { invitation: true, domain: 'suggested', sso: true, scim: true },
    })
  })

  test('are listed for admins, deleted organizations separately', async () => {
    const name = `Listed ${crypto.randomUUID()}`
    const { owner, organization } = await createOwner(app, name)
    const listed = async (deleted: string) => {
      const query = `search=${encodeURIComponent(name)}${deleted}`
      const path = `GET /admin/organizations?${query}`
      const list = await adminOk<{ organizations: Organization[] }>(app, path)
      return list.organizations.map(({ id }) => id)
    }
    assert.deepEqual([await listed(''), await listed('&deleted=true')], [[organization.id], []])
    await ok(app, owner, `DELETE /organizations/${organization.id}`)
    assert.deepEqual(
      [await listed('&deleted=false'), await listed('&deleted=true')],
      [[], [organization.id]],
    )
  })

  test('return 404 to members after deletion until an admin restores them', async () => {
    const { owner, organization } = await createOwner(app)
    const path = `/organizations/${organization.id}`
    await ok(app, owner, `DELETE ${path}`)
    assert.deepEqual(statusAndCode(await as(app, owner, `GET ${path}`)), [
      404,
      'organization_not_found',
    ])
    const { organizations } = await ok<{ organizations: Organization[] }>(
      app,
      owner,
      'GET /organizations',
    )
    assert.deepEqual(organizations, [])
    await adminOk(app, `POST /admin${path}/restore`)
    await ok(app, owner, `GET ${path}`)
  })

  test('are listed by page and by part of the name', async () => {
    const owner = await signUpUser(app)
    for (const name of ['One', 'Two', 'Three']) {
      await ok(app, owner, 'POST /organizations', { name })
    }
    interface Page {
      organizations: Organization[]
      next: string | null
    }
    const first = await ok<Page>(app, owner, 'GET /organizations?limit=2')
    const second = await ok<Page>(app, owner, `GET /organizations?limit=2&cursor=${first.next}`)
    const names = [...first.organizations, ...second.organizations].map(({ name }) => name)
    assert.deepEqual([names, second.next], [['Three', 'Two', 'One'], null])
    const found = await ok<Page>(app, owner, 'GET /organizations?search=tW')
    assert.deepEqual(
      found.organizations.map(({ name }) => name),
      ['Two'],
    )
  })

  test('list their members by page, role and part of the address', async () => {
    const { owner, organization } = await createOwner(app)
    const admin = await createMember(app, organization, 'admin')
    await createMember(app, organization)
    const list = async (query: string) => {
      const path = `/organizations/${organization.id}/members?${query}`
      const { members } = await ok<{ members: { user_id: string }[] }>(app, owner, `GET ${path}`)
      return members.map(({ user_id }) => user_id)
    }
    assert.equal((await list('')).length, 3)
    assert.deepEqual(await list('role=admin'), [admin.user.id])
    assert.deepEqual(await list(`search=${admin.email.slice(0, 12)}`), [admin.user.id])
  })

  test('are limited to AUTH_ORGANIZATIONS_MAX_PER_USER for each user', async () => {
    const { app: limited } = await serverFor({
      ...organizationsOn,
      AUTH_ORGANIZATIONS_MAX_PER_USER: '1',
    })
    const { owner } = await createOwner(limited)
    const second = await as(limited, owner, 'POST /organizations', { name: 'Second' })
    assert.deepEqual(statusAndCode(second), [422, 'organization_limit_reached'])
  })

  test('are created by admins only with AUTH_ORGANIZATIONS_USER_CREATION_ENABLED=false', async () => {
    const env = { ...organizationsOn, AUTH_ORGANIZATIONS_USER_CREATION_ENABLED: 'false' }
    const { app: closed } = await serverFor(env)
    const user = await signUpUser(closed)
    const create = await as(closed, user, 'POST /organizations', { name: 'Mine' })
    assert.deepEqual(statusAndCode(create), [403, 'organization_creation_disabled'])
    const body = { name: 'Theirs', owner_id: user.user.id }
    await adminOk(closed, 'POST /admin/organizations', body)
    const { organizations } = await ok<{ organizations: object[] }>(
      closed,
      user,
      'GET /organizations',
    )
    assert.partialDeepStrictEqual(organizations, [{ name: 'Theirs', role: 'owner' }])
  })

  test('reject requests with a specific error code while disabled', async () => {
    const { app: off } = await serverFor(autoconfirm)
    const user = await signUpUser(off)
    for (const name of [
      'GET /organizations',
      'PUT /user/sessions/current',
      'GET /admin/organizations',
    ]) {
      assert.deepEqual(
        statusAndCode(await as(off, user, name)),
        [422, 'organizations_disabled'],
        name,
      )
    }
    const { refresh_token } = user
    const body = { refresh_token, organization_id: crypto.randomUUID() }
    const refreshed = await call(off, '/token?grant_type=refresh_token', body)
    assert.deepEqual(statusAndCode(refreshed), [422, 'organizations_disabled'])
  })
})
