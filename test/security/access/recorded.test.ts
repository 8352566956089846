/** New access is told to those it concerns, and a global sign-out ends what a stolen session gave. */
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'

import type { Session } from '../../../schemas/session.ts'
import { asAdmin } from '../../support/admin.ts'
import { withConsole } from '../../support/admins.ts'
import { externalServer, verifiedProfile } from '../../support/external.ts'
import { nextId } from '../../support/linking.ts'
import { createClient, ownConsentPage, signInClient } from '../../support/oauth-server.ts'
import { adminOk, type Organization, ok } from '../../support/organizations/organizations.ts'
import type { Ending } from '../../support/processes/ending.ts'
import { shareServers } from '../../support/processes/shared-servers.ts'
import { call } from '../../support/requests.ts'
import { confirmedUser, newAddress, newNumber, signedIn } from '../../support/users.ts'

type Server = Awaited<ReturnType<typeof startServer>>

suite('new access', () => {
  const start = shareServers(startServer)
  let server: Server
  before(async () => {
    server = await start()
  })
  const told = (session: Session, subject: RegExp) =>
    server.mail.waitFor(
      ({ to, mail }) => to === session.user.email && subject.test(mail.subject ?? ''),
    )
  const countMails = (session: Session, subject: RegExp) =>
    server.mail.messages.filter(
      ({ to, mail }) => to === session.user.email && subject.test(mail.subject ?? ''),
    ).length
  const signOut = (session: Session) =>
    call(server.app, '/logout', {}, { token: session.access_token })

  test('of an OAuth client is told once for the same scopes', async () => {
    const { app } = server
    const user = await confirmedUser(server)
    const client = await createClient(app, { client_name: 'Grafana' })
    await signInClient(app, client, user, { scope: 'openid' })
    const { mail } = await told(user, /An app was given access/)
    assert.match(mail.text ?? '', /Grafana can now access your account/)
    await signInClient(app, client, user, { scope: 'openid', prompt: 'consent' })
    await signInClient(app, client, user, { scope: 'openid email', prompt: 'consent' })
    await server.mail.waitFor(() => countMails(user, /An app was given access/) === 2)
  })

  test('of an OAuth client to another resource server is told', async () => {
    const { app } = server
    const user = await confirmedUser(server)
    const resources = ['https://orders.example', 'https://invoices.example']
    const client = await createClient(app, { resources })
    for (const resource of [...resources, ...resources]) {
      await signInClient(app, client, user, { resource, scope: 'openid', prompt: 'consent' })
    }
    await signInClient(app, client, user, { scope: 'openid email', prompt: 'consent' })
    await server.mail.waitFor(() => countMails(user, /An app was given access/) === 3)
  })

  test('of an OAuth client ends with a global sign-out on the same day', async () => {
    const { app } = server
    const user = await confirmedUser(server)
    const [older, newer] = [await createClient(app), await createClient(app)]
    for (const client of [older, newer]) await signInClient(app, client, user)
    await app.db
      .updateTable('oauth_consents')
      .set({ granted_at: new Date(Date.now() - 2 * 86_400_000) })
      .where('client_id', '=', older.client_id)
      .execute()
    assert.equal((await signOut(user)).statusCode, 204)
    const kept = await app.db
      .selectFrom('oauth_consents')
      .select('client_id')
      .where('user_id', '=', user.user.id)
      .where('revoked_at', 'is', null)
      .execute()
    assert.deepEqual(
      kept.map(({ client_id }) => client_id),
      [older.client_id],
    )
  })

  test('of an admin is told to the account and to the owners', async () => {
    const { app } = server
    const [owner, added] = [await confirmedUser(server), await confirmedUser(server)]
    await adminOk(app, 'POST /admin/admins', { user_id: owner.user.id, role: 'owner' })
    await adminOk(app, 'POST /admin/admins', { email: added.user.email, role: 'support' })
    const about = new RegExp(`${added.user.email} now has the role support`)
    for (const session of [owner, added]) {
      const sent = await server.mail.waitFor(
        ({ to, mail }) => to === session.user.email && about.test(mail.text ?? ''),
      )
      assert.equal(sent.mail.subject, 'A role on the server was given')
    }
  })

  test('by a SCIM token is told to the owners of the server', async () => {
    const { app } = server
    const { user } = await confirmedUser(server)
    await adminOk(app, 'POST /admin/admins', { user_id: user.id, role: 'owner' })
    const owner = await signedIn(app, user.email)
    const organization = await newOrganization(server, owner)
    const { id } = await adminOk<{ id: string }>(app, 'POST /admin/scim/connections', {
      name: 'Directory',
      organization_id: organization.id,
    })
    await adminOk(app, `POST /admin/scim/connections/${id}/tokens`, { name: 'Entra ID' })
    const { mail } = await told(owner, /A SCIM token was issued/)
    assert.match(mail.text ?? '', /Entra ID/)
  })

  test('of a member with another role is told to the member, and of another owner to owners', async () => {
    const { app } = server
    const [owner, member] = [await confirmedUser(server), await confirmedUser(server)]
    const { id } = await newOrganization(server, owner)
    const { id: user_id } = member.user
    await adminOk(app, `POST /admin/organizations/${id}/members`, { user_id, role: 'member' })
    await told(member, /A role in Acme was given/)
    assert.equal(countMails(owner, /A role in Acme was given/), 0)
    await ok(app, owner, `PUT /organizations/${id}/members/${user_id}`, { role: 'owner' })
    await told(owner, /A role in Acme was given/)
  })

  test('by an open invitation to a role that gives access ends with a global sign-out', async () => {
    const { app } = server
    const owner = await confirmedUser(server)
    const { id } = await newOrganization(server, owner)
    const path = `POST /organizations/${id}/roles`
    await ok(app, owner, path, { name: 'deputy', permissions: ['members:write'] })
    await ok(app, owner, path, { name: 'author', permissions: ['posts:write', 'members:read'] })
    // In another organization the name gives more.
    const other = await newOrganization(server, await confirmedUser(server))
    const author = { name: 'author', permissions: ['members:write'] }
    await adminOk(app, `POST /admin/organizations/${other.id}/roles`, author)
    for (const role of ['owner', 'deputy', 'author', 'member']) {
      await ok(app, owner, `POST /organizations/${id}/invitations`, { email: newAddress(), role })
    }
    assert.equal((await signOut(owner)).statusCode, 204)
    const open = await app.db
      .selectFrom('postern_organization_invitations')
      .select('role')
      .where('organization_id', '=', id)
      .execute()
    assert.deepEqual(open.map(({ role }) => role).toSorted(), ['author', 'member'])
  })

  test('by a provider that is linked by the address is told and recorded', async () => {
    const user = await confirmedUser(server)
    await server.signInWith('github', verifiedProfile(user.user.email ?? '', nextId()))
    const { mail } = await told(user, /A new sign-in method was linked/)
    assert.match(mail.text ?? '', /GitHub/)
    assert.ok((await server.auditActions(user.user.id)).includes('identity_linked'))
  })

  test('by credentials that an admin sets is told to the user at both addresses', async () => {
    const { app } = server
    const user = await confirmedUser(server)
    const email = newAddress('other')
    await asAdmin(app, 'PUT', `/admin/users/${user.user.id}`, { email, password: 'another one' })
    await told(user, /Your password was changed/)
    await told(user, /Your email address was changed/)
  })

  test('by the number of a factor that an admin changed is told to the user, and not a new name', async () => {
    const { app } = server
    const user = await confirmedUser(server)
    const { id: user_id } = user.user
    const row = {
      id: crypto.randomUUID(),
      user_id,
      factor_type: 'phone',
      status: 'verified',
    } as const
    const times = { created_at: new Date(), updated_at: new Date() }
    await app.db
      .insertInto('mfa_factors')
      .values({ ...row, ...times, friendly_name: 'first', phone: newNumber(), secret: null })
      .execute()
    const path = `PUT /admin/users/${user_id}/factors/${row.id}`
    await adminOk(app, path, { friendly_name: 'second' })
    await adminOk(app, path, { phone: newNumber() })
    await told(user, /A new verification method was added/)
    assert.equal(countMails(user, /A new verification method was added/), 1)
  })

  test('by a username is told to the user', async () => {
    const { app } = server
    const user = await confirmedUser(server)
    const username = `name${nextId()}`
    await adminOk(app, `PUT /admin/users/${user.user.id}/username`, { username })
    const { mail } = await told(user, /Your username was changed/)
    assert.match(mail.text ?? '', new RegExp(username))
  })
})

/** Tests run without notifications unless they ask for them. */
const notifications = [
  'APP_CONNECTED',
  'ADMIN_ROLE',
  'EMAIL_CHANGED',
  'IDENTITY_LINKED',
  'MFA_FACTOR_ENROLLED',
  'ORGANIZATION_ROLE',
  'PASSWORD_CHANGED',
  'SCIM_TOKEN',
  'USERNAME_CHANGED',
]

async function startServer(t: Ending) {
  const env = {
    ...Object.fromEntries(
      notifications.map((name) => [`AUTH_MAILER_NOTIFICATIONS_${name}_ENABLED`, 'true']),
    ),
    ...withConsole,
    ...ownConsentPage,
    AUTH_MAILER_AUTOCONFIRM: 'false',
    AUTH_ORGANIZATIONS_ENABLED: 'true',
    AUTH_EXPERIMENTAL_SCIM_ENABLED: 'true',
    AUTH_USERNAMES_ENABLED: 'true',
  }
  return externalServer(t, { env })
}

function newOrganization({ app }: Server, owner: Session): Promise<Organization> {
  return ok(app, owner, 'POST /organizations', { name: 'Acme', slug: `acme-${nextId()}` })
}
