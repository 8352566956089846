/**
 * An organization with a verified domain, an identity provider and a SCIM client, against accounts with addresses of
 * its domain.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { decodeJwt } from 'jose'

import { adminCall, asAdmin } from '../../support/admin.ts'
import { waitForIdleQueue } from '../../support/messages/mail-journeys.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call, changeUser, getUser, statusAndCode } from '../../support/requests.ts'
import { signedResponse } from '../../support/saml/idp.ts'
import { addIdp, post, samlOn } from '../../support/saml/server.ts'
import {
  activate,
  deactivate,
  findScimAccount,
  newClient,
  newOrganization,
  scimError,
  scimOn,
} from '../../support/scim/clients.ts'
import type { App, Built } from '../../support/server.ts'
import { adminCreatedUser, password, signedIn, signIn } from '../../support/users.ts'

const notified = {
  AUTH_MAILER_NOTIFICATIONS_IDENTITY_LINKED_ENABLED: 'true',
  AUTH_MAILER_NOTIFICATIONS_ORGANIZATION_ROLE_ENABLED: 'true',
}
const env = {
  ...scimOn,
  ...samlOn,
  ...notified,
  AUTH_CONSOLE_ENABLED: 'true',
  AUTH_JWT_ADMIN_ROLES: 'service_role,boss',
}

suite('an organization with SCIM and SAML', () => {
  const servers = sharedServers()

  /** Whose domain no other test has. */
  async function tenant() {
    const server = await servers(env)
    const { app } = server
    const domain = `${crypto.randomUUID()}.test`
    const organization = await newOrganization(app, domain)
    const { idp, id: providerId } = await addIdp(app)
    const client = await newClient(app, {
      organization_id: organization,
      sso_provider_id: providerId,
    })
    /** The identity provider asserts what it likes. */
    const assertUser = async (nameId: string, mail: string) => {
      const { query, fragment } = await post(
        app,
        signedResponse({ idp, nameId, attributes: { mail: [mail] } }),
      )
      const token = fragment.access_token
      return {
        code: { ...query, ...fragment }.error_code,
        token,
        id: token && decodeJwt(token).sub,
      }
    }
    const address = (name: string) => `${name}@${domain}`
    const provision = (userName: string, email: string, more: object = {}) =>
      client.send('POST', '/Users', { userName, emails: [{ value: email }], ...more })
    return { ...server, domain, organization, providerId, client, assertUser, address, provision }
  }

  const newAccount = (app: App, email: string, more: object = {}) =>
    adminCreatedUser(app, { email, password, email_confirm: true, ...more })

  async function promote(app: App, id: string, role = 'owner') {
    const made = await asAdmin(app, 'POST', '/admin/admins', { user_id: id, role })
    assert.equal(made.statusCode, 201, made.body)
  }

  /** A linked account, which signed in at the provider, and what opens it. */
  async function linked(more: object = {}) {
    const server = await tenant()
    const { app, address, provision, client } = server
    const email = address('ann')
    const { id } = await newAccount(app, email, more)
    const made = await provision('ann', email)
    assert.equal(made.statusCode, 201, made.body)
    const user = made.json()
    assert.equal((await findScimAccount(app, user.id)).user_id, id)
    return { ...server, email, id, user, path: `/Users/${user.id}`, client }
  }

  const providers = async (app: App, id: string) => {
    const rows = await app.db
      .selectFrom('identities')
      .select('provider')
      .where('user_id', '=', id)
      .execute()
    return rows.map(({ provider }) => provider.split(':')[0]).toSorted()
  }

  const roles: [what: string, make: (app: App, email: string) => Promise<string>][] = [
    [
      'an owner of the server',
      async (app, email) => {
        const { id } = await newAccount(app, email)
        await promote(app, id)
        return id
      },
    ],
    [
      'an admin with the role support',
      async (app, email) => {
        const { id } = await newAccount(app, email)
        await promote(app, id, 'support')
        return id
      },
    ],
    [
      'a user with an admin role in the row',
      async (app, email) => (await newAccount(app, email, { role: 'boss' })).id,
    ],
  ]
  for (const [what, make] of roles) {
    test(`opens no account of ${what}`, async () => {
      const { app, address, client, organization, provision, assertUser } = await tenant()
      const email = address('owner')
      const id = await make(app, email)
      const made = await provision('attacker', email, { active: false })
      assert.notEqual((await findScimAccount(app, made.json().id)).user_id, id)
      const others = await newClient(app, { organization_id: organization })
      const body = { userName: 'attacker', emails: [{ value: email }], active: false }
      assert.deepEqual(scimError(await others.send('POST', '/Users', body)), [409, 'uniqueness'])
      assert.equal((await signIn(app, { email })).statusCode, 200)
      await client.patch(`/Users/${made.json().id}`, activate)
      const { id: opened, token } = await assertUser('attacker', email)
      assert.notEqual(opened, id)
      if (token) {
        const me = await call(app, '/admin/me', undefined, { method: 'GET', token })
        assert.equal(me.statusCode, 403, me.body)
      }
      assert.deepEqual(await providers(app, id), ['email'])
    })
  }

  test('opens and changes no account that became one of an admin', async () => {
    const { app, email, id, client, path, user, assertUser, address, provision } = await linked()
    assert.equal((await assertUser('ann', email)).id, id)
    await promote(app, id)
    const session = await signedIn(app, email)
    assert.deepEqual(await assertUser('ann', email), {
      code: 'provider_not_accepted',
      token: undefined,
      id: undefined,
    })
    const change = { op: 'replace', path: 'emails', value: [{ value: address('bert') }] }
    assert.equal((await client.patch(path, change)).statusCode, 200)
    const renamed = { op: 'replace', path: 'userName', value: 'bert' }
    assert.equal((await client.patch(path, renamed)).statusCode, 200)
    assert.notEqual((await assertUser('bert', email)).id, id)
    assert.equal((await client.patch(path, deactivate)).statusCode, 200)
    assert.equal((await getUser(app, session)).statusCode, 200)
    assert.equal((await signIn(app, { email })).statusCode, 200)
    assert.equal((await client.send('DELETE', path)).statusCode, 204)
    assert.equal((await getUser(app, session)).statusCode, 200)
    const again = await provision('bert', email, { active: false })
    assert.equal(again.json().id, user.id)
    assert.notEqual((await findScimAccount(app, user.id)).user_id, id)
    assert.equal((await signIn(app, { email })).statusCode, 200)
  })

  test('keeps an admin whose account it created, and the address', async () => {
    const { app, client, address, provision } = await tenant()
    const made = await provision('carl', address('carl'))
    const { user_id } = await findScimAccount(app, made.json().id)
    await promote(app, user_id ?? '')
    const path = `/Users/${made.json().id}`
    const change = { op: 'replace', path: 'emails', value: [{ value: address('other') }] }
    await client.patch(path, change, deactivate)
    const { email } = await findScimAccount(app, made.json().id)
    assert.equal(email, address('carl'))
    const found = await adminCall<{ deactivated_at?: string }>(
      app,
      'GET',
      `/admin/users/${user_id}`,
    )
    assert.equal(found.deactivated_at, undefined)
    await client.send('DELETE', path)
    assert.ok(await adminCall(app, 'GET', `/admin/users/${user_id}`))
  })

  async function linkEntries(app: App, id: string) {
    const rows = await app.db.selectFrom('audit_log_entries').select('payload').execute()
    return rows
      .map(({ payload }) => payload)
      .filter(({ action, traits }) => action === 'identity_linked' && Object(traits).user_id === id)
  }

  const mails = async (server: Built, to: string) => {
    await waitForIdleQueue(server)
    return server.mail.messages.filter((message) => message.to === to)
  }

  test('tells the user of a linked account, and the audit log', async () => {
    const server = await linked()
    const { app, email, id } = server
    assert.deepEqual(await providers(app, id), ['email', 'sso'])
    const subjects = (await mails(server, email)).map(({ mail }) => mail.subject)
    assert.equal(subjects.length, 2, subjects.join())
    const [entry] = await linkEntries(app, id)
    assert.match(String(entry?.actor_username ?? entry?.actor_id), /^scim:/)
  })

  test('opens a linked account with a session that proves nothing for a day', async () => {
    const { app, email, id, assertUser } = await linked({ password: undefined })
    const { token, id: opened } = await assertUser('ann', email)
    assert.equal(opened, id)
    const changes = [{ password }, { email: 'ann@home.test' }]
    for (const change of changes) {
      const response = await changeUser(app, token ?? '', change)
      assert.deepEqual(statusAndCode(response), [400, 'reauthentication_needed'])
    }
    const factor = { factor_type: 'totp', friendly_name: 'mine' }
    const enrolled = await call(app, '/factors', factor, { token: token ?? '' })
    assert.deepEqual(statusAndCode(enrolled)[1], 'reauthentication_needed')
  })

  test('does not open a linked account with another address than that of the account', async () => {
    const { email, id, assertUser, address } = await linked()
    for (const other of [address('bert'), 'ann@elsewhere.test']) {
      const { code, token } = await assertUser('ann', other)
      assert.deepEqual([code, token], ['provider_not_accepted', undefined])
    }
    assert.equal((await assertUser('ann', email.toUpperCase())).id, id)
  })

  const ends: [
    what: string,
    end: (server: Awaited<ReturnType<typeof linked>>) => Promise<unknown>,
  ][] = [
    [
      'the account has another address',
      ({ app, id }) =>
        adminCall(app, 'PUT', `/admin/users/${id}`, {
          email: `${crypto.randomUUID()}@home.test`,
          email_confirm: true,
        }),
    ],
    [
      'the organization has lost the domain',
      ({ app, organization }) =>
        app.db
          .deleteFrom('postern_organization_domains')
          .where('organization_id', '=', organization)
          .execute(),
    ],
    [
      'the organization has been deleted',
      ({ app, organization }) => asAdmin(app, 'DELETE', `/admin/organizations/${organization}`),
    ],
    [
      'the connection has been deleted',
      ({ app, client }) =>
        asAdmin(app, 'DELETE', `/admin/scim/connections/${client.connection.id}`),
    ],
  ]
  for (const [what, end] of ends) {
    test(`does not open a linked account after ${what}`, async () => {
      const server = await linked()
      const { app, id, email, assertUser, address } = server
      assert.equal((await assertUser('ann', email)).id, id)
      await end(server)
      const { email: current = '' } = await adminCall(app, 'GET', `/admin/users/${id}`)
      for (const asserted of [email, current]) {
        const { code } = await assertUser('ann', asserted)
        assert.equal(code, 'provider_not_accepted')
      }
      assert.notEqual((await assertUser('evil', current)).id, id)
      assert.notEqual((await assertUser('evil', address('ann'))).id, id)
    })
  }

  test('opens the account by a new NameID only with its address, and tells the user', async () => {
    const server = await linked()
    const { app, email, id, assertUser, address, client, path } = server
    const before = (await mails(server, email)).length
    const renamed = { op: 'replace', path: 'userName', value: 'ann.smith' }
    const moved = { op: 'replace', path: 'emails', value: [{ value: address('bert') }] }
    assert.equal((await client.patch(path, renamed, moved)).statusCode, 200)
    assert.equal((await assertUser('ann.smith', address('bert'))).code, 'provider_not_accepted')
    assert.equal((await assertUser('ann.smith', email)).id, id)
    assert.notEqual((await assertUser('ann', address('bert'))).id, id)
    assert.ok((await mails(server, email)).length > before)
    assert.equal((await linkEntries(app, id)).length, 2)
  })

  test('links an account again after a deletion under the conditions of the first time', async () => {
    const server = await linked()
    const { app, email, id, client, path, provision, assertUser, address } = server
    const before = (await mails(server, email)).length
    await client.send('DELETE', path)
    assert.deepEqual(await providers(app, id), ['email'])
    assert.equal((await provision('ann', email)).statusCode, 201)
    assert.deepEqual(await providers(app, id), ['email', 'sso'])
    assert.equal((await assertUser('ann', email)).id, id)
    assert.ok((await mails(server, email)).length > before)
    await client.send('DELETE', path)
    const other = await provision('ann', address('other'))
    assert.equal(other.statusCode, 201, other.body)
    assert.notEqual((await findScimAccount(app, other.json().id)).user_id, id)
    await client.send('DELETE', path)
    await adminCall(app, 'PUT', `/admin/users/${id}`, { email: 'a@home.test', email_confirm: true })
    const moved = await provision('ann', email)
    assert.notEqual((await findScimAccount(app, moved.json().id)).user_id, id)
  })

  test('reserves no address of another domain by the identity of a linked account', async () => {
    const { app, email, id, assertUser, client, path } = await linked()
    const victim = `${crypto.randomUUID()}@elsewhere.test`
    await client.patch(path, { op: 'replace', path: 'emails', value: [{ value: victim }] })
    assert.equal((await assertUser('ann', email)).id, id)
    const { rows } = await app.pool.query(
      'select count(*)::int as count from auth.identities where email = $1',
      [victim],
    )
    assert.equal(rows[0].count, 0)
  })
})
