/** Membership by signing in with the provider of an organization. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import type { Session } from '../../../schemas/session.ts'
import { asAdmin } from '../../support/admin.ts'
import {
  add,
  authorizeUrl,
  customOnLoopback,
  finishSignIn,
  oidcInput,
} from '../../support/custom-providers/requests.ts'
import {
  adminOk,
  as,
  createMember,
  createOwner,
  ok,
  organizationsOn,
} from '../../support/organizations/organizations.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { signInAs, startOpenidProvider } from '../../support/providers/openid-provider.ts'
import { getUser, statusAndCode } from '../../support/requests.ts'
import { signedResponse } from '../../support/saml/idp.ts'
import { addIdp, begin, post, samlOn } from '../../support/saml/server.ts'
import { type App, build } from '../../support/server.ts'
import { adminCreatedUser, confirmAddress, password } from '../../support/users.ts'

const mapping = {
  default_role: 'member',
  role_mapping: [{ attribute: 'groups', value: 'it', role: 'admin' }],
}
const withGroups = { attribute_mapping: { keys: { groups: { name: 'groups', array: true } } } }

suite('connection of an organization', () => {
  const server = sharedServers()

  async function withSaml() {
    const { app } = await server({ ...organizationsOn, ...samlOn })
    const { owner, organization } = await createOwner(app)
    const known = await addIdp(app, withGroups)
    const path = `/organizations/${organization.id}`
    const body = { name: 'Corp', sso_provider_id: known.id, ...mapping }
    const connection = await adminOk<{ id: string }>(app, `POST /admin${path}/connections`, body)

    const signIn = async (nameId: string, ...groups: string[]) => {
      const { relayState, requestId } = await begin(app, { provider_id: known.id })
      const attributes = { mail: [`${nameId}@corp.example`], groups }
      const xml = signedResponse({ idp: known.idp, requestId, nameId, attributes })
      const { fragment, query } = await post(app, xml, relayState)
      return { ...fragment, error: fragment.error_code ?? query.error_code } as Partial<Session> & {
        error?: string
      }
    }
    const listRoles = async (session: Partial<Session>) => {
      const list = await ok<{ organizations: { id: string; role: string; joined_by: string }[] }>(
        app,
        session as Session,
        'GET /organizations',
      )
      return list.organizations.map(({ id, role, joined_by }) => [id, role, joined_by])
    }
    return { app, owner, organization, path, connection, known, signIn, listRoles }
  }

  test('makes a SAML user a member, with the role of an attribute', async () => {
    const { organization, signIn, listRoles } = await withSaml()
    const { id } = organization
    assert.deepEqual(await listRoles(await signIn('ann', 'staff')), [[id, 'member', 'sso']])
    assert.deepEqual(await listRoles(await signIn('ben', 'staff', 'it')), [[id, 'admin', 'sso']])
  })

  test('applies a changed attribute at the next sign-in', async () => {
    const { organization, signIn, listRoles } = await withSaml()
    await signIn('ann', 'it')
    const roles = await listRoles(await signIn('ann', 'staff'))
    assert.deepEqual(roles, [[organization.id, 'member', 'sso']])
  })

  test('never demotes the last owner', async () => {
    const { app, owner, organization, path, signIn, listRoles } = await withSaml()
    const ann = await signIn('ann')
    const { id } = (await getUser(app, ann as Session)).json()
    await ok(app, owner, `PUT ${path}/members/${id}`, { role: 'owner' })
    await ok(app, owner, `POST ${path}/leave`)
    assert.deepEqual(await listRoles(await signIn('ann')), [[organization.id, 'owner', 'sso']])
  })

  test('adds no member while the connection or joining by SSO is disabled', async () => {
    const { app, owner, path, connection, signIn, listRoles } = await withSaml()
    await ok(app, owner, `PUT ${path}`, { joining: { sso: false } })
    assert.deepEqual(await listRoles(await signIn('ann')), [])
    await ok(app, owner, `PUT ${path}`, { joining: { sso: true } })
    await ok(app, owner, `PUT ${path}/connections/${connection.id}`, { enabled: false })
    assert.deepEqual(await listRoles(await signIn('ann')), [])
  })

  test('binds a provider to one organization only', async () => {
    const { app, known } = await withSaml()
    const { organization } = await createOwner(app, 'Other')
    const path = `/admin/organizations/${organization.id}/connections`
    const body = { name: 'Corp', sso_provider_id: known.id }
    const taken = await asAdmin(app, 'POST', path, body)
    assert.deepEqual(statusAndCode(taken), [409, 'organization_connection_exists'])
    const unknown = { name: 'Corp', sso_provider_id: crypto.randomUUID() }
    const missing = await asAdmin(app, 'POST', path, unknown)
    assert.deepEqual(statusAndCode(missing), [404, 'sso_provider_not_found'])
  })

  test('rejects a mapping to a role with more permissions than the member who sets it', async () => {
    const { app, path, connection, signIn } = await withSaml()
    const admin = (await signIn('ben', 'it')) as Session
    const change = { role_mapping: [{ attribute: 'groups', value: 'it', role: 'owner' }] }
    const rejected = await as(app, admin, `PUT ${path}/connections/${connection.id}`, change)
    assert.deepEqual(statusAndCode(rejected), [403, 'organization_role_too_high'])
  })

  test('keeps a mapping to a role with more permissions than the member who would remove it', async () => {
    const { app, organization, path, connection } = await withSaml()
    const url = `/connections/${connection.id}`
    const role_mapping = [{ attribute: 'groups', value: 'board', role: 'owner' }]
    await adminOk(app, `PUT /admin${path}${url}`, { role_mapping })
    const admin = await createMember(app, organization, 'admin')
    const changes = [{ role_mapping: [] }, { default_role: 'member' }]
    for (const change of changes.flatMap((one) => [one, { ...one, enabled: false }])) {
      const response = await as(app, admin, `PUT ${path}${url}`, change)
      assert.deepEqual(statusAndCode(response), [403, 'organization_role_too_high'])
    }
    await ok(app, admin, `PUT ${path}${url}`, { enabled: false })
  })

  test('cannot be enabled by a member with fewer permissions than its roles', async () => {
    const { app, owner, path, connection, signIn } = await withSaml()
    const admin = (await signIn('ben', 'it')) as Session
    const url = `PUT ${path}/connections/${connection.id}`
    const role_mapping = [{ attribute: 'groups', value: 'board', role: 'owner' }]
    await ok(app, owner, url, { role_mapping, enabled: false })
    const rejected = await as(app, admin, url, { enabled: true })
    assert.deepEqual(statusAndCode(rejected), [403, 'organization_role_too_high'])
    await ok(app, owner, url, { role_mapping: [], enabled: true })
    await ok(app, owner, `PUT ${path}`, { joining: { sso: false } })
    await ok(app, owner, url, { role_mapping })
    const joining = await as(app, admin, `PUT ${path}`, { joining: { sso: true } })
    assert.deepEqual(statusAndCode(joining), [403, 'organization_role_too_high'])
    await ok(app, admin, url, { enabled: false })
  })

  test('makes a user of a custom OpenID Connect provider a member', async (t) => {
    const { app, issuer } = await withOidc(t)
    const { organization } = await createOwner(app)
    await add(app, oidcInput(issuer))
    const path = `/admin/organizations/${organization.id}/connections`
    await adminOk(app, `POST ${path}`, { name: 'Acme', custom_provider: 'custom:acme' })
    const fields = await signInAs('ann', await authorizeUrl(app, 'custom:acme'))
    const redirect = await finishSignIn(app, fields)
    const { access_token = '' } = redirect
    const session = { access_token } as Session
    const { organizations } = await ok<{ organizations: object[] }>(
      app,
      session,
      'GET /organizations',
    )
    assert.partialDeepStrictEqual(organizations, [
      { id: organization.id, role: 'member', joined_by: 'sso' },
    ])
  })

  test('opens no account with a role on the server by a custom provider', async (t) => {
    const { app, issuer } = await withOidc(t)
    const { organization } = await createOwner(app)
    await add(app, oidcInput(issuer))
    const path = `/admin/organizations/${organization.id}/connections`
    await adminOk(app, `POST ${path}`, { name: 'Acme', custom_provider: 'custom:acme' })
    const open = async (sub: string) =>
      finishSignIn(app, await signInAs(sub, await authorizeUrl(app, 'custom:acme')))
    const admin = (name: string) => {
      const email = `${name}@ex.test`
      return adminCreatedUser(app, { email, password, email_confirm: true, role: 'boss' })
    }
    await admin('bob')
    assert.equal((await open('bob')).access_token, undefined)
    const carl = await open('carl')
    const { id } = (await getUser(app, { access_token: carl.access_token ?? '' })).json()
    await confirmAddress(app, id)
    await adminOk(app, `PUT /admin/users/${id}`, { role: 'boss' })
    assert.equal((await open('carl')).error_code, 'provider_not_accepted')
  })

  async function withOidc(t: TestContext): Promise<{ app: App; issuer: string }> {
    const { issuer } = await startOpenidProvider(t, { claimsInIdToken: true, https: true })
    const roles = { AUTH_JWT_ADMIN_ROLES: 'service_role,boss' }
    const env = { ...customOnLoopback.env, ...organizationsOn, ...roles }
    const { app } = await build(t, { ...customOnLoopback, env })
    return { app, issuer }
  }
})
