import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { adminCall, asAdmin } from '../../support/admin.ts'
import { call, getUser, refresh, statusAndCode } from '../../support/requests.ts'
import {
  activate,
  addOwner,
  deactivate,
  findMemberRole,
  findScimAccount,
  newClient,
  newOrganization,
  type ScimClient,
  scimError,
  sharedScimServer,
} from '../../support/scim/clients.ts'
import type { App } from '../../support/server.ts'
import { adminCreatedUser, autoconfirm, password, signedIn, signIn } from '../../support/users.ts'

const email = 'ann@corp.test'
const ann = { userName: email, emails: [{ value: email, primary: true }] }

/** An account with a password, confirmed by an admin. */
const newAccount = (app: App, address = email) =>
  adminCreatedUser(app, { email: address, password, email_confirm: true })

async function linkedUser(app: App, client: ScimClient) {
  const { id } = await newAccount(app)
  const user = await client.create(ann)
  assert.equal((await findScimAccount(app, user.id)).user_id, id)
  return { id, user, path: `/Users/${user.id}` }
}

suite('accounts of provisioned users', () => {
  const newTenant = sharedScimServer()

  test('are linked by a confirmed address inside a verified domain', async () => {
    const { app, client, organization } = await newTenant()
    const { id } = await linkedUser(app, client)
    assert.equal(await findMemberRole(app, organization, id), 'member active scim')
    assert.equal((await signIn(app, { email })).statusCode, 200)
  })

  test('are not linked outside of the verified domains', async () => {
    const { app, client } = await newTenant()
    await newAccount(app, 'ann@elsewhere.test')
    const outside = { userName: 'ann', emails: [{ value: 'ann@elsewhere.test' }] }
    assert.deepEqual(scimError(await client.send('POST', '/Users', outside)), [409, 'uniqueness'])
  })

  test('are not linked by an address that is not confirmed', async () => {
    const { app, client } = await newTenant()
    await adminCreatedUser(app, { email, password })
    assert.deepEqual(scimError(await client.send('POST', '/Users', ann)), [409, 'uniqueness'])
  })

  test('are not linked by an address that was confirmed without verification', async () => {
    const { app, client } = await newTenant(autoconfirm)
    await call(app, '/signup', { email, password })
    assert.deepEqual(scimError(await client.send('POST', '/Users', ann)), [409, 'uniqueness'])
  })

  test('are not linked by a domain that only another organization verified', async () => {
    const { app } = await newTenant()
    await newAccount(app)
    const other = await newOrganization(app, 'other.test')
    const client = await newClient(app, { organization_id: other })
    assert.deepEqual(scimError(await client.send('POST', '/Users', ann)), [409, 'uniqueness'])
  })

  test('are linked to one provisioned user only', async () => {
    const { app, client } = await newTenant()
    await linkedUser(app, client)
    const second = { ...ann, userName: 'ann-2' }
    assert.deepEqual(scimError(await client.send('POST', '/Users', second)), [409, 'uniqueness'])
  })

  const conflicts: [
    what: string,
    conflict: (server: Awaited<ReturnType<typeof newTenant>>) => Promise<{ body: string }>,
    cause: RegExp,
  ][] = [
    [
      'the userName of a user',
      async ({ client }) => {
        await client.create(ann)
        return client.send('POST', '/Users', ann)
      },
      /Another user of this connection has this userName/,
    ],
    [
      'an account of a user with another userName',
      async ({ client }) => {
        await client.create(ann)
        return client.send('POST', '/Users', { ...ann, userName: 'ann-2' })
      },
      /provisioned under another userName/,
    ],
    [
      'an account of another connection',
      async ({ app, client, organization }) => {
        await newAccount(app)
        await (await newClient(app, { organization_id: organization })).create(ann)
        return client.send('POST', '/Users', ann)
      },
      /provisioned by another connection/,
    ],
    [
      'an account whose address is not confirmed',
      async ({ app, client }) => {
        await adminCreatedUser(app, { email, password })
        return client.send('POST', '/Users', ann)
      },
      /has not confirmed/,
    ],
    [
      'an account outside of the verified domains',
      async ({ app, client }) => {
        await newAccount(app, 'ann@elsewhere.test')
        return client.send('POST', '/Users', { userName: 'ann@elsewhere.test' })
      },
      /elsewhere\.test is not verified for this connection/,
    ],
  ]
  for (const [what, conflict, cause] of conflicts) {
    test(`name the cause of a conflict with ${what}`, async () => {
      const { body } = await conflict(await newTenant())
      const { status, scimType, detail } = JSON.parse(body)
      assert.deepEqual([status, scimType], ['409', 'uniqueness'], detail)
      assert.match(detail, cause)
    })
  }

  test('start with an unconfirmed address without a verified domain', async () => {
    const { app, client } = await newTenant()
    const user = await client.create({ userName: 'eve', emails: [{ value: 'eve@elsewhere.test' }] })
    const account = await findScimAccount(app, user.id)
    assert.deepEqual([account.email, account.email_confirmed_at], ['eve@elsewhere.test', null])
  })

  test('follow the address inside the verified domain', async () => {
    const { app, client } = await newTenant()
    const user = await client.create(ann)
    const path = `/Users/${user.id}`
    const to = (value: string) => ({ op: 'replace', path: 'emails', value: [{ value }] })
    await client.patch(path, to('anna@corp.test'))
    assert.equal((await findScimAccount(app, user.id)).email, 'anna@corp.test')
    await client.patch(path, to('anna@elsewhere.test'))
    assert.equal((await findScimAccount(app, user.id)).email, 'anna@corp.test')
  })
})

suite('deactivation by a SCIM client', () => {
  const newTenant = sharedScimServer()

  test('revokes sessions immediately and rejects sign-ins until it is lifted', async () => {
    const { app, client, organization } = await newTenant()
    const { id, path } = await linkedUser(app, client)
    const session = await signedIn(app, email)
    assert.equal((await client.patch(path, deactivate)).statusCode, 200)
    assert.notEqual((await getUser(app, session)).statusCode, 200)
    assert.notEqual((await refresh(app, session.refresh_token)).statusCode, 200)
    assert.deepEqual(statusAndCode(await signIn(app, { email })), [400, 'user_deactivated'])
    assert.equal(await findMemberRole(app, organization, id), 'member suspended scim')
    assert.equal((await client.patch(path, activate)).statusCode, 200)
    assert.equal((await signIn(app, { email })).statusCode, 200)
    assert.equal(await findMemberRole(app, organization, id), 'member active scim')
  })

  test('is not revealed without the correct password', async () => {
    const { app, client } = await newTenant()
    const { path } = await linkedUser(app, client)
    await client.patch(path, deactivate)
    const response = await signIn(app, { email, password: 'wrong horse' })
    assert.deepEqual(statusAndCode(response), [400, 'invalid_credentials'])
  })

  test('is independent of a ban: activating a user lifts no ban', async () => {
    const { app, client } = await newTenant()
    const { id, path } = await linkedUser(app, client)
    await adminCall(app, 'PUT', `/admin/users/${id}`, { ban_duration: '24h' })
    await client.patch(path, deactivate)
    await client.patch(path, activate)
    assert.deepEqual(statusAndCode(await signIn(app, { email })), [400, 'user_banned'])
  })

  test('revokes the grants of OAuth clients', async () => {
    const { app, client } = await newTenant()
    const { id, path } = await linkedUser(app, client)
    const now = new Date()
    const clientId = crypto.randomUUID()
    await app.pool.query(
      `insert into auth.oauth_clients (id, registration_type, redirect_uris, grant_types, created_at, updated_at)
       values ($1, 'manual', 'https://client.test/cb', 'authorization_code', $2, $2)`,
      [clientId, now],
    )
    const consent = { id: crypto.randomUUID(), user_id: id, client_id: clientId, scopes: 'email' }
    const times = { granted_at: now, revoked_at: null }
    await app.db
      .insertInto('oauth_consents')
      .values({ ...consent, ...times })
      .execute()
    await client.patch(path, deactivate)
    const { revoked_at } = await app.db
      .selectFrom('oauth_consents')
      .select('revoked_at')
      .where('id', '=', consent.id)
      .executeTakeFirstOrThrow()
    assert.ok(revoked_at)
  })

  test('applies to a user who is created inactive', async () => {
    const { app, client } = await newTenant()
    await newAccount(app)
    await client.create({ ...ann, active: false })
    assert.deepEqual(statusAndCode(await signIn(app, { email })), [400, 'user_deactivated'])
  })

  test('keeps the last owner as a member who cannot sign in', async () => {
    const { app, client, organization } = await newTenant()
    const { id, path } = await linkedUser(app, client)
    await app.db
      .updateTable('postern_organization_members')
      .set({ role: 'owner' })
      .where('user_id', '=', id)
      .execute()
    await client.patch(path, deactivate)
    assert.equal(await findMemberRole(app, organization, id), 'owner active scim')
    assert.deepEqual(statusAndCode(await signIn(app, { email })), [400, 'user_deactivated'])
    assert.deepEqual(scimError(await client.send('DELETE', path)), [409, 'mutability'])
  })
})

suite('deactivation of an account', () => {
  const newTenant = sharedScimServer()

  const isRejected = async (app: App) =>
    assert.deepEqual(statusAndCode(await signIn(app, { email })), [400, 'user_deactivated'])

  async function deactivatedUser() {
    const server = await newTenant()
    const linked = await linkedUser(server.app, server.client)
    await server.client.patch(linked.path, deactivate)
    return { ...server, ...linked }
  }

  /** With a new connection of the organization. */
  async function withoutConnection() {
    const server = await deactivatedUser()
    const { app, client, organization } = server
    const url = `/admin/scim/connections/${client.connection.id}`
    assert.equal((await asAdmin(app, 'DELETE', url)).statusCode, 204)
    return { ...server, next: await newClient(app, { organization_id: organization }) }
  }

  test('remains when the connection is deleted', async () => {
    await isRejected((await withoutConnection()).app)
  })

  test('remains when the organization is deleted', async () => {
    const { app, organization } = await deactivatedUser()
    await asAdmin(app, 'DELETE', `/admin/organizations/${organization}`)
    await isRejected(app)
  })

  test('remains when the client deletes the user', async () => {
    const { app, client, path } = await deactivatedUser()
    assert.equal((await client.send('DELETE', path)).statusCode, 204)
    await isRejected(app)
  })

  test('is lifted when the client creates and activates the user again', async () => {
    const { app, client, path } = await deactivatedUser()
    await client.send('DELETE', path)
    await client.create({ ...ann, active: false })
    await isRejected(app)
    await client.patch(path, activate)
    assert.equal((await signIn(app, { email })).statusCode, 200)
  })

  test('is lifted with the membership when another client of the domain creates the user', async () => {
    const { app, id, next, organization } = await withoutConnection()
    await next.create(ann)
    assert.equal((await signIn(app, { email })).statusCode, 200)
    assert.equal(await findMemberRole(app, organization, id), 'member active scim')
  })

  test('is shown to admins and lifted by them', async () => {
    const { app, id } = await withoutConnection()
    const url = `/admin/users/${id}`
    type Shown = { deactivated_at?: string }
    assert.ok((await adminCall<Shown>(app, 'GET', url)).deactivated_at)
    await adminCall(app, 'PUT', url, { ban_duration: '24h' })
    const after = await adminCall<Shown>(app, 'PUT', url, { ban_duration: 'none' })
    assert.equal(after.deactivated_at, undefined)
    assert.equal((await signIn(app, { email })).statusCode, 200)
  })
})

suite('deprovisioning', () => {
  const newTenant = sharedScimServer()

  const exists = async (app: App, id: string | null) => {
    const row = await app.db
      .selectFrom('users')
      .select('id')
      .where('id', '=', id ?? '')
      .executeTakeFirst()
    return row !== undefined
  }

  test('deletes an account created by SCIM without other credentials', async () => {
    const { app, client } = await newTenant()
    const user = await client.create(ann)
    const { user_id } = await findScimAccount(app, user.id)
    assert.equal((await client.send('DELETE', `/Users/${user.id}`)).statusCode, 204)
    assert.equal(await exists(app, user_id), false)
  })

  test('keeps an account created by SCIM with a password', async () => {
    const { app, client } = await newTenant()
    const user = await client.create(ann)
    const { user_id } = await findScimAccount(app, user.id)
    await adminCall(app, 'PUT', `/admin/users/${user_id}`, { password })
    await client.send('DELETE', `/Users/${user.id}`)
    assert.equal(await exists(app, user_id), true)
  })

  test('keeps a member of another organization', async () => {
    const { app, client } = await newTenant()
    const user = await client.create(ann)
    const { user_id } = await findScimAccount(app, user.id)
    const other = await newOrganization(app, 'other.test')
    await addOwner(app, other, user_id ?? '')
    await client.send('DELETE', `/Users/${user.id}`)
    assert.equal(await exists(app, user_id), true)
    assert.equal(await findMemberRole(app, other, user_id ?? ''), 'owner active admin')
  })

  test('keeps a linked account, which can sign in', async () => {
    const { app, client, organization } = await newTenant()
    const { id, path } = await linkedUser(app, client)
    assert.equal((await client.send('DELETE', path)).statusCode, 204)
    assert.equal(await findMemberRole(app, organization, id), undefined)
    assert.equal((await signIn(app, { email })).statusCode, 200)
  })

  test('is undone by creating the same userName, with the same id and account', async () => {
    const { app, client, organization } = await newTenant()
    const { id, user, path } = await linkedUser(app, client)
    await client.send('DELETE', path)
    const revived = await client.create({ ...ann, userName: email.toUpperCase(), title: 'Dr.' })
    assert.deepEqual([revived.id, revived.title], [user.id, 'Dr.'])
    assert.equal((await findScimAccount(app, user.id)).user_id, id)
    assert.equal(await findMemberRole(app, organization, id), 'member active scim')
  })

  test('keeps a member who joined in another way', async () => {
    const { app, client, organization } = await newTenant()
    const { id } = await newAccount(app)
    await addOwner(app, organization, id)
    const user = await client.create(ann)
    assert.equal(await findMemberRole(app, organization, id), 'owner active admin')
    await client.send('DELETE', `/Users/${user.id}`)
    assert.equal(await findMemberRole(app, organization, id), 'owner active admin')
  })
})

suite('repeated and concurrent SCIM requests', () => {
  const newTenant = sharedScimServer()

  test('create one user and one account', async () => {
    const { app, client } = await newTenant()
    const responses = await Promise.all(
      Array.from({ length: 8 }, () => client.send('POST', '/Users', ann)),
    )
    const statuses = responses.map(({ statusCode }) => statusCode).toSorted()
    assert.deepEqual(statuses, [201, ...Array.from({ length: 7 }, () => 409)])
    const { rows } = await app.pool.query('select count(*)::int as count from auth.users')
    assert.equal(rows[0].count, 1)
  })

  test('revive one user', async () => {
    const { app, client } = await newTenant()
    const { path } = await linkedUser(app, client)
    await client.send('DELETE', path)
    const responses = await Promise.all(
      Array.from({ length: 6 }, () => client.send('POST', '/Users', ann)),
    )
    const created = responses.filter(({ statusCode }) => statusCode === 201)
    assert.equal(created.length, 1)
  })

  test('apply each of several concurrent changes', async () => {
    const { client } = await newTenant()
    const { id } = await client.create(ann)
    const names = ['title', 'nickName', 'locale', 'timezone', 'userType']
    const asked = names.map((path) => client.patch(`/Users/${id}`, { op: 'add', path, value: 'x' }))
    for (const { statusCode, body } of await Promise.all(asked)) assert.equal(statusCode, 200, body)
    const user = await client.request('GET', `/Users/${id}`)
    assert.deepEqual(
      names.map((name) => user[name]),
      names.map(() => 'x'),
    )
  })
})

suite('isolation of SCIM connections', () => {
  const newTenant = sharedScimServer()

  test('shows and changes nothing of another connection', async () => {
    const { app, client } = await newTenant()
    const user = await client.create(ann)
    const group = await client.createGroup('Staff', [user.id])
    const other = await newClient(app, { organization_id: await newOrganization(app, 'b.test') })
    for (const path of [`/Users/${user.id}`, `/Groups/${group.id}`]) {
      for (const method of ['GET', 'PUT', 'PATCH', 'DELETE'] as const) {
        const Operations = [{ op: 'add', path: 'displayName', value: 'x' }]
        const body = { PUT: { userName: 'x', displayName: 'x' }, PATCH: { Operations } }
        const payload = method === 'PUT' || method === 'PATCH' ? body[method] : undefined
        assert.deepEqual(scimError(await other.send(method, path, payload)), [404, ''], method)
      }
    }
    for (const path of ['/Users', '/Groups', `/Users?filter=id eq "${user.id}"`]) {
      const { totalResults } = await other.request<{ totalResults: number }>('GET', encodeURI(path))
      assert.equal(totalResults, 0, path)
    }
    const member = { displayName: 'Theirs', members: [{ value: user.id }] }
    const theirs = await other.request<{ members?: object[] }>('POST', '/Groups', member)
    assert.equal(theirs.members, undefined)
    const same = { userName: email, emails: [{ value: 'ann@b.test' }] }
    assert.equal((await other.create(same)).userName, email)
  })

  test('rejects the token of another connection', async () => {
    const { app, client } = await newTenant()
    const other = await newClient(app, { organization_id: await newOrganization(app, 'b.test') })
    const headers = { authorization: `Bearer ${other.token}` }
    const response = await client.send('GET', '/Users', undefined, headers)
    assert.deepEqual(scimError(response), [401, ''])
  })
})
