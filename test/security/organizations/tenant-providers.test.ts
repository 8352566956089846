/**
 * A custom provider that an organization has or had: its operator is the organization, and asserts what it likes. It
 * links and opens only what the organization has verified, also after the organization has unbound it.
 */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { asAdmin } from '../../support/admin.ts'
import { createAdmin } from '../../support/admins.ts'
import {
  add,
  authorizeUrl,
  customOnLoopback,
  finishSignIn,
  oidcInput,
  send,
} from '../../support/custom-providers/requests.ts'
import { withoutDrop } from '../../support/database.ts'
import { externalServer, verifiedProfile } from '../../support/external.ts'
import { nextId } from '../../support/linking.ts'
import { emailedToken, nextEmail, open as openLink } from '../../support/messages/mail-journeys.ts'
import {
  adminOk,
  createMember,
  type Organization,
  ok,
  organizationsOn,
} from '../../support/organizations/organizations.ts'
import { signInAs, startOpenidProvider } from '../../support/providers/openid-provider.ts'
import { bearer, getUser, statusAndCode } from '../../support/requests.ts'
import { addDomain } from '../../support/scim/clients.ts'
import type { App } from '../../support/server.ts'
import {
  adminCreatedUser,
  invite,
  newNumber,
  password,
  signIn,
  signUp,
} from '../../support/users.ts'

type Outcome = { id?: string; code?: string | undefined }

/** A provider that asserts `<name>@ex.test`, bound to an organization that has the domain, unless told otherwise. */
async function tenant(
  t: TestContext,
  { domain = 'ex.test', env = {} }: { domain?: string; env?: Record<string, string> } = {},
) {
  const { issuer } = await startOpenidProvider(t, { claimsInIdToken: true, https: true })
  const options = {
    ...customOnLoopback,
    env: { ...customOnLoopback.env, ...organizationsOn, ...env },
  }
  const server = await externalServer(t, options)
  const { app } = server
  const organization = await adminOk<Organization>(app, 'POST /admin/organizations', {
    name: 'Acme',
  })
  await addDomain(app, organization.id, domain)
  await add(app, oidcInput(issuer))
  const { id } = await bind(app, organization.id)
  const connection = `/organizations/${organization.id}/connections/${id}`
  return { ...server, options, organization, connection, issuer }
}

const bind = (app: App, organization: string) =>
  adminOk<{ id: string }>(app, `POST /admin/organizations/${organization}/connections`, {
    name: 'Acme',
    custom_provider: 'custom:acme',
  })

async function open(app: App, name: string): Promise<Outcome> {
  const fields = await signInAs(name, await authorizeUrl(app, 'custom:acme'))
  const { access_token, error_code: code } = await finishSignIn(app, fields)
  if (!access_token) return { code }
  return { id: (await getUser(app, { access_token })).json().id }
}

/** An account with a confirmed address, which the provider did not make. */
async function account(app: App, name: string, more: object = {}): Promise<string> {
  const record = { email: `${name}@ex.test`, password, email_confirm: true, ...more }
  return (await adminCreatedUser(app, record)).id
}

const refused: Outcome = { code: 'provider_not_accepted' }
const unverified: Outcome = { code: 'provider_email_needs_verification' }

type Tenant = Awaited<ReturnType<typeof tenant>>

/** What makes the provider one without an organization. */
const ends: Record<string, (of: Tenant) => Promise<unknown>> = {
  async 'a member who may change connections has unbound it'({ app, organization, connection }) {
    const admin = await createMember(app, organization, 'admin')
    await ok(app, admin, `DELETE ${connection}`)
  },
  async 'the organization was purged'({ app, organization }) {
    await adminOk(app, `DELETE /admin/organizations/${organization.id}`)
    await adminOk(app, `POST /admin/organizations/${organization.id}/purge`)
  },
  async 'the organization was deleted'({ app, organization }) {
    const owner = await createMember(app, organization, 'owner')
    await ok(app, owner, `DELETE /organizations/${organization.id}`)
  },
  async 'the organization has lost the domain'({ app, organization }) {
    await app.db
      .deleteFrom('postern_organization_domains')
      .where('organization_id', '=', organization.id)
      .execute()
  },
}

suite('a custom provider of an organization', () => {
  for (const [what, end] of Object.entries(ends)) {
    test(`opens no account that it did not make after ${what}`, async (t) => {
      const server = await tenant(t, { env: { AUTH_JWT_ADMIN_ROLES: 'service_role,boss' } })
      const { app } = server
      const linked = await account(app, 'ann')
      assert.deepEqual(await open(app, 'ann'), { id: linked })
      const made = await open(app, 'carl')
      await end(server)
      await account(app, 'boss', { role: 'boss' })
      await account(app, 'bert')
      assert.deepEqual(await open(app, 'ann'), refused)
      assert.deepEqual(await open(app, 'bert'), unverified)
      assert.deepEqual(await open(app, 'boss'), unverified)
      assert.deepEqual(await open(app, 'carl'), made)
    })
  }

  test('opens no account that it did not make after organizations were switched off', async (t) => {
    const server = await tenant(t)
    const linked = await account(server.app, 'ann')
    assert.deepEqual(await open(server.app, 'ann'), { id: linked })
    const env = { ...server.options.env, AUTH_ORGANIZATIONS_ENABLED: 'false' }
    const database = withoutDrop(server.database)
    const { app } = await externalServer(t, { ...server.options, env, database })
    await account(app, 'bert')
    assert.deepEqual(await open(app, 'ann'), refused)
    assert.deepEqual(await open(app, 'bert'), unverified)
  })

  test('is one of the server again only when an owner of the server says so', async (t) => {
    const env = { AUTH_CONSOLE_ENABLED: 'true' }
    const { app, connection, issuer } = await tenant(t, { domain: 'other.test', env })
    const linked = await account(app, 'ann')
    const path = '/custom:acme'
    const release = { organization_bound: false }
    const isBound = async () => (await send(app, 'GET', path)).json().organization_bound
    const early = await send(app, 'PUT', path, release)
    assert.deepEqual(statusAndCode(early), [400, 'conflict'])
    await adminOk(app, `DELETE /admin${connection}`)
    // Deleted and added again, it is still that of the organization.
    await send(app, 'DELETE', path)
    await add(app, oidcInput(issuer))
    assert.equal(await isBound(), true)
    assert.deepEqual(await open(app, 'ann'), unverified)
    const operator = await createAdmin(app, 'operator')
    const url = `/admin/custom-providers${path}`
    const forbidden = await operator.request('PUT', url, release)
    assert.deepEqual(statusAndCode(forbidden), [403, 'admin_role_required'])
    const owner = await createAdmin(app, 'owner')
    const released = await owner.request('PUT', url, release)
    assert.equal(released.statusCode, 200, released.body)
    assert.equal(await isBound(), false)
    assert.deepEqual(await open(app, 'ann'), { id: linked })
    const rows = await app.db.selectFrom('audit_log_entries').select('payload').execute()
    const entry = rows.find(({ payload }) => payload.action === 'custom_provider_updated')
    const changes = { before: { organization_bound: true }, after: { organization_bound: false } }
    assert.partialDeepStrictEqual(entry?.payload.traits, changes)
  })

  test('links no account by an address outside of the domains of the organization', async (t) => {
    const { app } = await tenant(t, { domain: 'other.test' })
    await account(app, 'ann')
    assert.deepEqual(await open(app, 'ann'), unverified)
    // No one has confirmed the address.
    await signUp(app, { email: 'bert@ex.test' })
    assert.deepEqual(await open(app, 'bert'), unverified)
    assert.deepEqual(await linkedUsers(app), [])
  })

  test('links an account without a holder, which loses all that was set before', async (t) => {
    const { app } = await tenant(t)
    const { user } = (await signUp(app, { email: 'bert@ex.test' })).json()
    assert.deepEqual(await open(app, 'bert'), { id: user.id })
    const other = await signIn(app, { email: 'bert@ex.test' })
    assert.deepEqual(statusAndCode(other), [400, 'invalid_credentials'])
    assert.deepEqual(await open(app, 'bert'), { id: user.id })
  })

  test('links no account of the holder of a number, by an address that was not confirmed', async (t) => {
    const { app } = await tenant(t, { env: { AUTH_MAILER_AUTOCONFIRM: 'false' } })
    const record = { email: 'cora@ex.test', phone: newNumber(), phone_confirm: true, password }
    await adminCreatedUser(app, record)
    assert.deepEqual(await open(app, 'cora'), unverified)
    assert.deepEqual(await linkedUsers(app), [])
  })

  test('opens no linked account that has another address', async (t) => {
    const { app } = await tenant(t)
    const id = await account(app, 'ann')
    assert.deepEqual(await open(app, 'ann'), { id })
    for (const email of ['anna@ex.test', 'ann@home.test']) {
      const changed = await asAdmin(app, 'PUT', `/admin/users/${id}`, {
        email,
        email_confirm: true,
      })
      assert.equal(changed.statusCode, 200, changed.body)
      assert.deepEqual(await open(app, 'ann'), refused)
    }
  })

  test('verifies no address outside of the domains: its holder does', async (t) => {
    const env = { AUTH_MAILER_AUTOCONFIRM: 'false' }
    const server = await tenant(t, { domain: 'other.test', env })
    const { app } = server
    assert.deepEqual(await open(app, 'dora'), unverified)
    await openLink(app, await nextEmail(server, 'dora@ex.test'))
    const dora = await open(app, 'dora')
    assert.ok(dora.id)
    // GitHub has verified the address of another user, whom the provider of the tenant named before.
    await open(app, 'emil')
    const emil = verifiedProfile('emil@ex.test', nextId())
    await server.signInWith('github', emil)
    assert.deepEqual(await open(app, 'emil'), unverified)
  })

  test('is matched with no account of another provider by an address that the organization lost', async (t) => {
    const server = await tenant(t)
    const { app, organization } = server
    const made = await open(app, 'finn')
    await app.db
      .deleteFrom('postern_organization_domains')
      .where('organization_id', '=', organization.id)
      .execute()
    const path = `/admin/users/${made.id}`
    await asAdmin(app, 'PUT', path, { email: 'other@home.test', email_confirm: true })
    const finn = verifiedProfile('finn@ex.test', nextId())
    await server.signInWith('github', finn)
    const user = await server.findUserBy({ provider: 'github', id: finn.id })
    assert.ok(user)
    assert.notEqual(user.id, made.id)
  })

  test('is linked by hand only to an account that it may open', async (t) => {
    const { app } = await tenant(t, { env: { AUTH_JWT_ADMIN_ROLES: 'service_role,boss' } })
    const byHand = async (email: string, name: string) => {
      const session = (await signIn(app, { email })).json()
      const url = '/user/identities/authorize?provider=custom:acme'
      const started = await app.inject({ url, headers: bearer(session) })
      const fields = await signInAs(name, new URL(String(started.headers.location)))
      return (await finishSignIn(app, fields)).error_code
    }
    await account(app, 'ann')
    await account(app, 'boss', { role: 'boss' })
    assert.equal(await byHand('ann@ex.test', 'eve'), 'provider_not_accepted')
    assert.equal(await byHand('boss@ex.test', 'boss'), 'provider_not_accepted')
    assert.equal(await byHand('ann@ex.test', 'ann'), undefined)
  })

  test('accepts an invitation only of an address in a domain of the organization', async (t) => {
    const accept = async (domain: string) => {
      const server = await tenant(t, { domain, env: { AUTH_MAILER_AUTOCONFIRM: 'false' } })
      const invite_token = emailedToken(await invite(server, 'gwen@ex.test'))
      const url = await authorizeUrl(server.app, 'custom:acme', { invite_token })
      return finishSignIn(server.app, await signInAs('gwen', url))
    }
    assert.equal((await accept('other.test')).error_code, 'provider_not_accepted')
    assert.ok((await accept('ex.test')).access_token)
  })
})

async function linkedUsers(app: App): Promise<string[]> {
  const rows = await app.db
    .selectFrom('identities')
    .select('user_id')
    .where('provider', '=', 'custom:acme')
    .execute()
  return rows.map(({ user_id: id }) => id)
}
