/** Every type of event, caused by what people and admins do, and each body held against the API document. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { exportJWK, generateKeyPair } from 'jose'

import type { Session } from '../../schemas/session.ts'
import { adminCall, asAdmin } from '../support/admin.ts'
import { type ExternalServer, externalServer, proven } from '../support/external.ts'
import { everyFactor, send } from '../support/factors.ts'
import { identityId, link, nextId, unlink, userOf } from '../support/linking.ts'
import { addPasskey, passkeysOn } from '../support/passkeys.ts'
import { newAddress, newNumber, newPerson, password, signedIn } from '../support/people.ts'
import { useCode, withCodes } from '../support/recovery-codes.ts'
import { call, changeUser, refresh } from '../support/requests.ts'
import { until } from '../support/until.ts'
import { webhookEnv, webhookReceiver } from '../support/webhook-receiver.ts'
import { describedTypes, faultOf } from '../support/webhook-schemas.ts'

const settings = {
  ...everyFactor,
  ...passkeysOn,
  AUTH_ADMIN_IMPERSONATION_ENABLED: 'true',
  AUTH_USER_SELF_DELETE_ENABLED: 'true',
}

const acts: Record<string, (server: ExternalServer) => Promise<void>> = {
  async 'changes of their own'({ app }) {
    const { access_token } = await newPerson(app)
    await changeUser(app, access_token, { data: { deep: { list: [1, null, 'ü'] } } })
    await changeUser(app, access_token, { password: `another ${password}` })
  },
  async 'a token that comes back, a sign-out, a deletion'({ app }) {
    const { email, refresh_token } = await newPerson(app)
    const next = (await refresh(app, refresh_token)).json<Session>()
    await refresh(app, next.refresh_token)
    await refresh(app, refresh_token)
    const { access_token: token } = await signedIn(app, email)
    await call(app, '/logout', {}, { token })
    const last = await signedIn(app, email)
    await call(app, '/user', undefined, { method: 'DELETE', token: last.access_token })
  },
  async 'what admins do to people'({ app }) {
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
    const person = await newPerson(server.app)
    await link(server, person, 'github', proven(newAddress(), nextId()))
    await unlink(server, person, identityId(await userOf(server, person), 'github'))
  },
  async 'second factors and passkeys'({ app }) {
    const { factor, first, low } = await withCodes(app)
    const raised = (await useCode(app, low, first)).json<Session>()
    await send(app, 'DELETE', `/factors/${factor.id}`, raised)
    const person = await newPerson(app)
    const { passkey } = await addPasskey(app, person)
    await send(app, 'DELETE', `/passkeys/${passkey.id}`, person)
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
  async 'a mail that is refused'({ app, mail }) {
    const { email } = await newPerson(app)
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

suite('the bodies of webhooks', () => {
  test('are as the API document describes them, each type of them, and without more', async (t: TestContext) => {
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
    ['right', { type: 'password.changed', timestamp, data: { user_id } }, undefined],
    [
      'of an unknown type',
      { type: 'user.sneezed', timestamp, data: {} },
      /not in the API document/,
    ],
    ['without its time', { type: 'password.changed', data: { user_id } }, /timestamp/],
    ['without the person', { type: 'user.updated', timestamp, data: { user_id } }, /user/],
    [
      'of another form',
      { type: 'session.revoked', timestamp, data: { user_id, session_id: 7 } },
      /session_id/,
    ],
    [
      'with more than is described',
      { type: 'password.changed', timestamp, data: { user_id, password } },
      /additional/,
    ],
  ]
  for (const [what, body, fault] of bodies) {
    test(`one ${what} is ${fault ? 'a fault' : 'none'}`, () => {
      const found = faultOf(JSON.stringify(body))
      if (fault) assert.match(found ?? '', fault)
      else assert.equal(found, undefined)
    })
  }
})
