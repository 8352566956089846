/** Who acts: the same `actor` and `act` in each audit entry, log line and event. */
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'

import type { AuditActing, AuditPayload } from '../../../db/tables/audit.ts'
import type { Session } from '../../../schemas/session.ts'
import { adminCall } from '../../support/admin.ts'
import { createAdmin, withConsole } from '../../support/admins.ts'
import { createOwner, ok } from '../../support/organizations/organizations.ts'
import { endingOfSuite } from '../../support/processes/ending.ts'
import { call, changeUser, refresh } from '../../support/requests.ts'
import { newClient, scimOn } from '../../support/scim/clients.ts'
import { type App, build } from '../../support/server.ts'
import { newAddress, signUpUser } from '../../support/users.ts'
import { allEvents } from '../../support/webhooks/events.ts'

const env = {
  ...withConsole,
  ...scimOn,
  AUTH_OAUTH_SERVER_ALLOW_DYNAMIC_REGISTRATION: 'true',
  AUTH_SECURITY_REFRESH_TOKEN_REUSE_INTERVAL: '0s',
}

suite('actor', () => {
  const ending = endingOfSuite()
  const lines: string[] = []
  let app: App
  before(async () => {
    app = (await build(ending, { env, lines })).app
  })

  /** The newest entry of the action, which must equal its log line. */
  async function entry(action: string): Promise<AuditPayload> {
    const { payload } = await app.db
      .selectFrom('audit_log_entries')
      .select('payload')
      .where((eb) => eb(eb.ref('payload', '->>').key('action'), '=', action))
      .orderBy('created_at', 'desc')
      .limit(1)
      .executeTakeFirstOrThrow()
    const line = lines.findLast((text) => text.includes(`audit: ${action}"`))
    if (line) assert.deepEqual(actingIn(JSON.parse(line).audit), actingIn(payload), line)
    return payload
  }

  async function event(type: string, userId?: string): Promise<AuditActing> {
    const events = await allEvents(app, userId, 1, type)
    const { actor, act } = events.at(-1)?.data ?? {}
    return actingIn({ actor, act })
  }

  async function impersonated() {
    const admin = await createAdmin(app, 'operator')
    const { user } = await signUpUser(app)
    const made = await admin.request('POST', `/admin/users/${user.id}/impersonate`, {})
    const session = made.json<Session>()
    const acting = { actor: { type: 'user', id: user.id }, act: { sub: admin.id } }
    return { admin, user, session, acting }
  }

  test('is the user who signs up, and later changes the account', async () => {
    const { user, access_token } = await signUpUser(app)
    const acting = { actor: { type: 'user', id: user.id } }
    assert.deepEqual(actingIn(await entry('login')), acting)
    assert.deepEqual(await event('user.created', user.id), acting)
    await changeUser(app, access_token, { data: { city: 'Bonn' } })
    assert.deepEqual(actingIn(await entry('user_modified')), acting)
    assert.deepEqual(await event('user.updated', user.id), acting)
  })

  test('is the user with the impersonating admin in act', async () => {
    const { session, user, acting } = await impersonated()
    await changeUser(app, session.access_token, { data: { city: 'Bonn' } })
    assert.deepEqual(actingIn(await entry('user_modified')), acting)
    assert.deepEqual(await event('user.updated', user.id), acting)
    await call(app, '/logout?scope=others', {}, { token: session.access_token })
    assert.deepEqual(actingIn(await entry('logout')), acting)
    assert.deepEqual(await event('session.revoked', user.id), acting)
    const line = lines.findLast((text) => text.includes('"route":"/logout"')) ?? ''
    assert.deepEqual(JSON.parse(line).act, acting.act)
    const found = await adminCall<object[]>(app, 'GET', `/admin/audit?user_id=${acting.act.sub}`)
    assert.ok(JSON.stringify(found).includes('"user_modified"'))
  })

  test('is named in refreshes of an impersonated session and in the reuse of its token', async () => {
    const { session, user, acting } = await impersonated()
    const next = (await refresh(app, session.refresh_token)).json<Session>()
    assert.deepEqual(actingIn(await entry('token_refreshed')), acting)
    await refresh(app, next.refresh_token)
    assert.equal((await refresh(app, session.refresh_token)).statusCode, 400)
    assert.deepEqual(actingIn(await entry('token_revoked')), acting)
    assert.deepEqual(await event('session.revoked', user.id), acting)
  })

  test('is the admin with the role for changes of others', async () => {
    const { admin, user } = await impersonated()
    const acting = { actor: { type: 'admin', id: admin.id, role: 'operator' } }
    assert.deepEqual(actingIn(await entry('user_impersonated')), acting)
    assert.deepEqual(await event('user.impersonated', user.id), acting)
    await admin.request('PUT', `/admin/users/${user.id}`, { ban_duration: '1h' })
    assert.deepEqual(await event('user.banned', user.id), acting)
  })

  test('is the service token that calls the admin API', async () => {
    const { id } = await adminCall(app, 'POST', '/admin/users', { email: newAddress() })
    const acting = { actor: { type: 'service', id: null, role: 'service_role' } }
    assert.deepEqual(await event('user.created', id), acting)
    assert.deepEqual(actingIn(await entry('user_signedup')), acting)
  })

  test('is the SCIM connection that provisions a user', async () => {
    const { organization } = await createOwner(app)
    const scim = await newClient(app, { organization_id: organization.id })
    await scim.create({ userName: newAddress() })
    const { traits } = await entry('user_provisioned')
    const acting = { actor: { type: 'scim', id: scim.connection.id } }
    assert.deepEqual(actingIn(await entry('user_provisioned')), acting)
    assert.deepEqual(await event('user.created', String(traits?.user_id)), acting)
  })

  test('is the client that registers itself', async () => {
    const body = { client_name: 'Client', redirect_uris: ['https://client.example/callback'] }
    const made = await call(app, '/oauth/clients/register', body)
    assert.equal(made.statusCode, 201, made.body)
    const { actor } = await entry('oauth_client_registered')
    assert.equal(actor?.type, 'client')
    assert.deepEqual(await event('oauth.client_created'), { actor })
  })

  test('is shown to the members of an organization', async () => {
    const { owner, organization } = await createOwner(app)
    const { id } = organization
    await adminCall<object>(app, 'PUT', `/admin/organizations/${id}`, { name: 'Acme 2' })
    const { entries } = await ok<{ entries: AuditActing[] }>(
      app,
      owner,
      `GET /organizations/${id}/audit`,
    )
    const service = { actor: { type: 'service', id: null, role: 'service_role' } }
    assert.deepEqual(actingIn(entries[0] ?? {}), service)
    assert.deepEqual(actingIn(entries.at(-1) ?? {}), { actor: { type: 'user', id: owner.user.id } })
  })
})

/** `actor` and `act`, when they are present. */
function actingIn({ actor, act }: Partial<Record<'actor' | 'act', unknown>>) {
  return { actor, ...(act !== undefined && { act }) } as AuditActing
}
