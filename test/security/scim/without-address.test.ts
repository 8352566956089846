/**
 * A user who removes the address of an account keeps the account: the organization that provisioned or linked it knew it
 * by the address only.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { asAdmin } from '../../support/admin.ts'
import { identityId } from '../../support/linking.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { bearer, changeUser, getUser } from '../../support/requests.ts'
import { deactivate, newClient, newOrganization, scimOn } from '../../support/scim/clients.ts'
import type { App } from '../../support/server.ts'
import {
  adminCreatedUser,
  bodyOf200,
  newNumber,
  password,
  signedIn,
  signIn,
} from '../../support/users.ts'

const env = {
  ...scimOn,
  AUTH_EXTERNAL_PHONE_ENABLED: 'true',
  AUTH_SECURITY_MANUAL_LINKING_ENABLED: 'true',
  AUTH_SMS_AUTOCONFIRM: 'true',
}

suite('an account without an address', () => {
  const serverFor = sharedServers()

  async function tenant() {
    const { app } = await serverFor(env)
    const domain = `${crypto.randomUUID()}.test`
    const client = await newClient(app, { organization_id: await newOrganization(app, domain) })
    return { app, domain, client }
  }

  test('that was linked is not deactivated', async () => {
    const { app, domain, client } = await tenant()
    const email = `ann@${domain}`
    await adminCreatedUser(app, { email, password, email_confirm: true })
    const { id } = await client.create({ userName: 'ann', emails: [{ value: email }] })
    const phone = await leaveAddress(app, email)
    assert.equal((await client.patch(`/Users/${id}`, deactivate)).statusCode, 200)
    assert.equal((await signIn(app, { phone })).statusCode, 200)
  })

  test('that was made for a user of another domain gets no address and is not deactivated', async () => {
    const { app, domain, client } = await tenant()
    const email = `eve@${crypto.randomUUID()}.test`
    const { id } = await client.create({ userName: 'eve', emails: [{ value: email }] })
    const [found] = await app.db
      .selectFrom('users')
      .select('id')
      .where('email', '=', email)
      .execute()
    const path = `/admin/users/${found?.id}`
    await asAdmin(app, 'PUT', path, { email_confirm: true, password })
    const phone = await leaveAddress(app, email)
    const emails = { op: 'replace', path: 'emails', value: [{ value: `it@${domain}` }] }
    assert.equal((await client.patch(`/Users/${id}`, emails)).statusCode, 200)
    assert.equal((await asAdmin(app, 'GET', path)).json().email, '')
    assert.equal((await client.patch(`/Users/${id}`, deactivate)).statusCode, 200)
    assert.equal((await signIn(app, { phone })).statusCode, 200)
  })

  test('by which its user never signed in is deactivated', async () => {
    const { app, client } = await tenant()
    const { id } = await client.create({ userName: 'no address' })
    assert.equal((await client.patch(`/Users/${id}`, deactivate)).statusCode, 200)
    const rows = await app.db
      .selectFrom('postern_deactivations')
      .select('postern_deactivations.user_id')
      .innerJoin('scim_users', 'scim_users.user_id', 'postern_deactivations.user_id')
      .where('scim_users.id', '=', id)
      .execute()
    assert.equal(rows.length, 1)
  })
})

/** The user adds a number and removes the address. Returns the number. */
async function leaveAddress(app: App, email: string): Promise<string> {
  const session = await signedIn(app, email)
  const phone = newNumber()
  bodyOf200(await changeUser(app, session.access_token, { phone }))
  const user = (await getUser(app, session)).json()
  const removed = await app.inject({
    method: 'DELETE',
    url: `/user/identities/${identityId(user, 'email')}`,
    headers: bearer(session),
  })
  assert.equal(removed.statusCode, 200, removed.body)
  return phone
}
