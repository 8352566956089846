/** The holder of an address that a SCIM client provisioned without a verified domain. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../../schemas/session.ts'
import { asAdmin } from '../../support/admin.ts'
import { verifiedProfile } from '../../support/external.ts'
import { emailAfter, open } from '../../support/messages/mail-journeys.ts'
import { as, ok } from '../../support/organizations/organizations.ts'
import { sharedExternalServers } from '../../support/processes/shared-servers.ts'
import { call, statusAndCode } from '../../support/requests.ts'
import {
  deactivate,
  findMemberRole,
  findScimAccount,
  newClient,
  newOrganization,
  scimOn,
  sharedScimServer,
} from '../../support/scim/clients.ts'
import type { App, Built } from '../../support/server.ts'
import { password, signedIn, signIn } from '../../support/users.ts'

const email = 'eve@elsewhere.test'
const eve = { userName: 'eve', emails: [{ value: email }], name: { givenName: 'Tenant' } }

interface Suggested {
  organizations: { id: string }[]
}

async function suggestions(app: App, { access_token: token }: Pick<Session, 'access_token'>) {
  const response = await call(app, '/organizations/suggestions', undefined, {
    method: 'GET',
    token,
  })
  assert.equal(response.statusCode, 200, response.body)
  return response.json<Suggested>().organizations.map(({ id }) => id)
}

const confirm = async (server: Built, path: string, body: object) =>
  open(server.app, await emailAfter(server, email, () => call(server.app, path, body)))

suite('the holder of an address that a SCIM client provisioned without its domain', () => {
  const newTenant = sharedScimServer()

  async function provisioned(env: Record<string, string> = {}) {
    const server = await newTenant(env)
    const { id } = await server.client.create(eve)
    return { ...server, id, path: `/Users/${id}` }
  }

  async function signedUp(env: Record<string, string> = {}) {
    const server = await provisioned(env)
    await confirm(server, '/signup', { email, password })
    return { ...server, session: await signedIn(server.app, email) }
  }

  test('signs up with a password that holds', async () => {
    const { session } = await signedUp()
    assert.equal(session.user.user_metadata.full_name, undefined)
  })

  test('signs up with a password that holds where unverified users may sign in', async () => {
    await signedUp({ AUTH_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS: 'true' })
  })

  test('gets none of two passwords with which someone signed up', async () => {
    const server = await provisioned()
    await call(server.app, '/signup', { email, password: 'another horse battery' })
    await confirm(server, '/signup', { email, password })
    assert.deepEqual(statusAndCode(await signIn(server.app, { email })), [
      400,
      'invalid_credentials',
    ])
  })

  test('is no member before they join, and is asked whether to', async () => {
    const { app, client, organization, id, session } = await signedUp()
    const { user_id } = await findScimAccount(app, id)
    assert.equal(user_id, session.user.id)
    assert.equal(await findMemberRole(app, organization, session.user.id), undefined)
    assert.deepEqual(await suggestions(app, session), [organization])
    const mapping = { role_mapping: [{ group: 'Staff', role: 'admin' }] }
    await asAdmin(app, 'PUT', `/admin/scim/connections/${client.connection.id}`, mapping)
    await client.createGroup('Staff', [id])
    await ok(app, session, `POST /organizations/${organization}/join`)
    assert.equal(await findMemberRole(app, organization, session.user.id), 'admin active scim')
    assert.deepEqual(await suggestions(app, session), [])
  })

  test('is not added by what the client sends next', async () => {
    const { app, client, organization, path, id, session } = await signedUp()
    await client.patch(path, { op: 'add', path: 'title', value: 'Dr.' })
    await client.patch(path, deactivate)
    assert.deepEqual(await suggestions(app, session), [])
    await client.patch(path, { op: 'replace', path: 'active', value: true })
    await client.createGroup('Staff', [id])
    await client.send('DELETE', path)
    assert.deepEqual(await suggestions(app, session), [])
    await client.create(eve)
    assert.equal(await findMemberRole(app, organization, session.user.id), undefined)
    assert.deepEqual(await suggestions(app, session), [organization])
  })

  test('is not asked after the organization, its joining or the connection has ended', async () => {
    const { app, client, organization, session } = await signedUp()
    const connection = `/admin/scim/connections/${client.connection.id}`
    await asAdmin(app, 'PUT', connection, { enabled: false })
    assert.deepEqual(await suggestions(app, session), [])
    await asAdmin(app, 'PUT', connection, { enabled: true })
    const joining = { invitation: true, domain: 'off', sso: true, scim: false }
    await asAdmin(app, 'PUT', `/admin/organizations/${organization}`, { joining })
    assert.deepEqual(await suggestions(app, session), [])
    const rejected = await as(app, session, `POST /organizations/${organization}/join`)
    assert.deepEqual(statusAndCode(rejected), [403, 'organization_join_disabled'])
  })

  test('keeps the account when the client changes, deactivates and deletes the user', async () => {
    const { app, client, organization, path, session } = await signedUp()
    await ok(app, session, `POST /organizations/${organization}/join`)
    const value = [{ value: 'it@corp.test' }]
    await client.patch(path, { op: 'replace', path: 'emails', value })
    await client.patch(path, deactivate)
    assert.equal(await findMemberRole(app, organization, session.user.id), 'member suspended scim')
    await client.send('DELETE', path)
    assert.equal(await findMemberRole(app, organization, session.user.id), undefined)
    assert.equal((await signedIn(app, email)).user.email, email)
  })

  for (const [what, path] of [
    ['a magic link', '/magiclink'],
    ['a recovery link', '/recover'],
  ] as const) {
    test(`is no member after ${what}`, async () => {
      const server = await provisioned()
      await confirm(server, path, { email })
      const { user_id } = await findScimAccount(server.app, server.id)
      assert.equal(await findMemberRole(server.app, server.organization, user_id ?? ''), undefined)
    })
  }

  test('is a member at once where the organization has verified the domain', async () => {
    const { app } = await newTenant()
    const organization_id = await newOrganization(app, 'elsewhere.test')
    const client = await newClient(app, { organization_id })
    const { user_id } = await findScimAccount(app, (await client.create(eve)).id)
    assert.equal(await findMemberRole(app, organization_id, user_id ?? ''), 'member active scim')
  })
})

suite('a provider that verifies an address that a SCIM client provisioned', () => {
  const newServer = sharedExternalServers()

  test('makes its user no member', async () => {
    const { app, signInWith, findUserBy } = await newServer(scimOn)
    const organization_id = await newOrganization(app, 'corp.test')
    const client = await newClient(app, { organization_id })
    const { id } = await client.create(eve)
    const { fragment } = await signInWith('github', verifiedProfile(email, '7'))
    const user = await findUserBy({ provider: 'github', id: '7' })
    const { user_id } = await findScimAccount(app, id)
    assert.equal(user_id, user?.id)
    assert.equal(await findMemberRole(app, organization_id, user_id ?? ''), undefined)
    const token = { access_token: fragment.access_token ?? '' }
    assert.deepEqual(await suggestions(app, token), [organization_id])
  })
})
