/** Each event type, caused by requests of users and admins, validated against the API document. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { exportJWK, generateKeyPair } from 'jose'

import type { Session } from '../../../../schemas/session.ts'
import { adminCall, asAdmin } from '../../../support/admin.ts'
import { type ExternalServer, externalServer, verifiedProfile } from '../../../support/external.ts'
import { everyFactor, send } from '../../../support/factors/factors.ts'
import { addPasskey, passkeysOn } from '../../../support/factors/passkeys.ts'
import { url, useCode, userWithRecoveryCodes } from '../../../support/factors/recovery-codes.ts'
import { fetchUser, identityId, link, nextId, unlink } from '../../../support/linking.ts'
import { createClient, signInClient } from '../../../support/oauth-server.ts'
import { organizationWrites } from '../../../support/organizations/organization-writes.ts'
import { createOwner, ok } from '../../../support/organizations/organizations.ts'
import { until } from '../../../support/processes/until.ts'
import { call, changeUser, refresh } from '../../../support/requests.ts'
import { newClient, scimOn } from '../../../support/scim/clients.ts'
import {
  newAddress,
  newNumber,
  password,
  signedIn,
  signedInAdminCreatedUser,
  signUpUser,
} from '../../../support/users.ts'
import { webhookEnv, webhookReceiver } from '../../../support/webhooks/webhook-receiver.ts'
import { describedTypes, findBodyError } from '../../../support/webhooks/webhook-schemas.ts'
import { providerWrites } from '../../../support/writes/provider-writes.ts'

const settings = {
  ...everyFactor,
  ...passkeysOn,
  AUTH_ADMIN_IMPERSONATION_ENABLED: 'true',
  AUTH_USER_SELF_DELETE_ENABLED: 'true',
  AUTH_OAUTH_SERVER_ENABLED: 'true',
  AUTH_OAUTH_SERVER_AUTHORIZATION_PATH: '/consent',
  AUTH_CONSOLE_ENABLED: 'true',
  ...scimOn,
}

const acts: Record<string, (server: ExternalServer) => Promise<void>> = {
  async 'changes by the user'({ app }) {
    const { access_token } = await signUpUser(app)
    await changeUser(app, access_token, { data: { deep: { list: [1, null, 'ü'] } } })
    await changeUser(app, access_token, { password: `another ${password}` })
  },
  async 'a reused token, a sign-out, a deletion'({ app }) {
    const { email, refresh_token } = await signUpUser(app)
    const next = (await refresh(app, refresh_token)).json<Session>()
    await refresh(app, next.refresh_token)
    await refresh(app, refresh_token)
    const { access_token: token } = await signedIn(app, email)
    await call(app, '/logout', {}, { token })
    const last = await signedIn(app, email)
    await call(app, '/user', undefined, { method: 'DELETE', token: last.access_token })
  },
  async 'what admins do to users'({ app }) {
    await adminCall(app, 'POST', '/invite', { email: newAddress() })
    const { id } = await adminCall(app, 'POST', '/admin/users', { email: newAddress() })
    const path = `/admin/users/${id}`
    const address = { email: newAddress(), email_confirm: true }
    const number = { phone: newNumber(), phone_confirm: true }
    for (const change of [{ ban_duration: '1h' }, { ban_duration: 'none' }, address, number]) {
      await adminCall(app, 'PUT', path, change)
    }
    await adminCall<Session>(app, 'POST', `${path}/impersonate`, {})
    await adminCall<object>(app, 'DELETE', path, { should_soft_delete: true })
  },
  async 'accounts of a provider'(server) {
    const user = await signUpUser(server.app)
    await link(server, user, 'github', verifiedProfile(newAddress(), nextId()))
    await unlink(server, user, identityId(await fetchUser(server, user), 'github'))
  },
  async 'second factors and passkeys'({ app }) {
    const { first, low: aal1 } = await userWithRecoveryCodes(app)
    const steppedUp = (await useCode(app, aal1, first)).json<Session>()
    await send(app, 'DELETE', url, steppedUp)
    const user = await signUpUser(app)
    const { passkey } = await addPasskey(app, user)
    await send(app, 'DELETE', `/passkeys/${passkey.id}`, user)
  },
  async 'signing keys'({ app }) {
    const change = (body: object) =>
      adminCall<{ keys: { kid: string; state: string }[] }>(app, 'POST', '/admin/keys', body)
    const { keys } = await change({ action: 'rotate' })
    const old = keys.find(({ state }) => state !== 'current')
    await change({ action: 'revoke', kid: old?.kid })
    const { privateKey } = await generateKeyPair('ES256', { extractable: true })
    const jwk = { ...(await exportJWK(privateKey)), kid: crypto.randomUUID() }
    await change({ action: 'import', jwk })
  },
  async admins({ app }) {
    const record = { email: newAddress(), email_confirm: true }
    const { id } = await adminCall(app, 'POST', '/admin/users', record)
    const added = await asAdmin(app, 'POST', '/admin/admins', { user_id: id, role: 'support' })
    assert.equal(added.statusCode, 201, added.body)
    await adminCall<object>(app, 'PUT', `/admin/admins/${id}`, { role: 'operator' })
    await asAdmin(app, 'DELETE', `/admin/admins/${id}`)
  },
  async 'external providers'({ app }) {
    for (const { write } of Object.values(providerWrites)) await write(app)
  },
  async 'an OAuth client'({ app }) {
    const client = await createClient(app)
    const path = `/admin/oauth/clients/${client.client_id}`
    await asAdmin(app, 'PUT', path, { client_name: 'Renamed' })
    const user = await signUpUser(app)
    await signInClient(app, client, user)
    const grant = `/user/oauth/grants?client_id=${client.client_id}`
    await call(app, grant, undefined, { method: 'DELETE', token: user.access_token })
    await asAdmin(app, 'DELETE', path)
  },
  async organizations({ app }) {
    for (const { write } of Object.values(organizationWrites)) await write(app)
    const { owner, organization } = await createOwner(app)
    const path = `/organizations/${organization.id}`
    await ok(app, owner, 'PUT /user/sessions/current', { organization_id: organization.id })
    for (const action of ['accept', 'decline']) {
      const email = newAddress()
      const { session } = await signedInAdminCreatedUser(app, email)
      const { id } = await ok<{ id: string }>(app, owner, `POST ${path}/invitations`, { email })
      await ok(app, session, `POST /organizations/invitations/${id}/${action}`)
    }
    const scim = await newClient(app, { organization_id: organization.id })
    const group = await scim.createGroup('Engineering')
    await scim.send('DELETE', `/Groups/${group.id}`)
  },
  async 'a rejected email'({ app, mail }) {
    const { email } = await signUpUser(app)
    mail.behave('permanent')
    await call(app, '/recover', { email })
  },
  async 'a test'({ app }) {
    const { webhooks } = await adminCall<{ webhooks: { id: string }[] }>(
      app,
      'GET',
      '/admin/webhooks',
    )
    const response = await asAdmin(app, 'POST', `/admin/webhooks/${webhooks[0]?.id}/test`)
    assert.equal(response.statusCode, 200, response.body)
  },
}

suite('webhook bodies', () => {
  test('match the API document for each type, without additional fields', async (t: TestContext) => {
    const receiver = await webhookReceiver(t)
    const server = await externalServer(t, { env: { ...settings, ...webhookEnv(receiver) } })
    for (const act of Object.values(acts)) await act(server)
    const missing = () => {
      const seen = new Set(receiver.received.map(({ type }) => type))
      return describedTypes.filter((type) => !seen.has(type))
    }
    await until(() => missing().length === 0).catch(() => assert.deepEqual(missing(), []))
    assert.deepEqual(receiver.faults, [])
  })

  const timestamp = '2026-11-22T10:00:00.000Z'
  const user_id = crypto.randomUUID()
  const bodies: [what: string, body: object, fault: RegExp | undefined][] = [
    ['as documented', { type: 'password.changed', timestamp, data: { user_id } }, undefined],
    [
      'of an unknown type',
      { type: 'user.sneezed', timestamp, data: {} },
      /not in the API document/,
    ],
    ['without timestamp', { type: 'password.changed', data: { user_id } }, /timestamp/],
    ['without the user', { type: 'user.updated', timestamp, data: { user_id } }, /user/],
    [
      'with a field of the wrong type',
      { type: 'session.revoked', timestamp, data: { user_id, session_id: 7 } },
      /session_id/,
    ],
    [
      'with an additional field',
      { type: 'password.changed', timestamp, data: { user_id, password } },
      /additional/,
    ],
  ]
  for (const [what, body, error] of bodies) {
    test(`reports ${error ? 'an error' : 'no error'} for a body ${what}`, () => {
      const found = findBodyError(JSON.stringify(body))
      if (error) assert.match(found ?? '', error)
      else assert.equal(found, undefined)
    })
  }
})
