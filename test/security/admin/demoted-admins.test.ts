/** Demoted admins cannot use tokens issued before the demotion. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { adminCall, asAdmin } from '../../support/admin.ts'
import { add, oauth2Input } from '../../support/custom-providers/requests.ts'
import { lockKeys, lockUserRow } from '../../support/locked-user.ts'
import { callbackUrl, createClient } from '../../support/oauth-server.ts'
import {
  existingOrganizationUrl,
  organizationBodies,
} from '../../support/organizations/organization-writes.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call, refresh, statusAndCode } from '../../support/requests.ts'
import type { App } from '../../support/server.ts'
import {
  autoconfirm,
  confirmAddress,
  newAddress,
  signedIn,
  signUpUser,
} from '../../support/users.ts'
import { adminWrites } from '../../support/writes/admin-writes.ts'

type Method = 'GET' | 'PUT' | 'POST' | 'DELETE'

/** Of the public network: nothing is sent to it when the provider is saved. */
const customProvider = oauth2Input('https://1.1.1.1')

/** Minimal valid bodies of writes that need one. */
const bodies: Record<string, object> = {
  '/admin/users': { email: newAddress() },
  '/admin/users/{user_id}': { email: newAddress() },
  '/admin/users/{user_id}/impersonate': { reason: 'the user requested help' },
  '/admin/generate_link': { type: 'magiclink', email: newAddress() },
  '/admin/users/bulk': { action: 'delete', ids: [crypto.randomUUID()] },
  '/admin/users/{user_id}/send_link': { type: 'recovery' },
  '/admin/settings': { values: { AUTH_RATE_LIMIT_SSO: '5' } },
  '/admin/mail/test': { kind: 'recovery', address: newAddress() },
  '/admin/admins': { email: newAddress(), role: 'support' },
  '/admin/admins/{user_id}': { role: 'support' },
  '/admin/custom-providers': customProvider,
  '/admin/custom-providers/{identifier}': { name: 'Other' },
  '/admin/keys': { action: 'rotate' },
  '/admin/oauth/clients': { client_name: 'App', redirect_uris: [callbackUrl] },
  '/admin/oauth/clients/{client_id}': { client_name: 'Other' },
  '/admin/webhooks': { url: 'https://hooks.example/events' },
  '/admin/webhooks/{webhook_id}/replay': { dead: true },
  '/invite': { email: newAddress() },
  ...organizationBodies,
}

const newId = () => crypto.randomUUID()

/** Of an existing provider or organization: it is looked up before the write is authorized again. */
async function existingUrl(app: App, write: string): Promise<string | undefined> {
  if (write.includes('{organization_id}')) return existingOrganizationUrl(app, write)
  if (write.includes('/clients/{client_id}')) {
    const { client_id } = await createClient(app)
    return write.replace(/^\w+ /, '').replace('{client_id}', client_id)
  }
  if (write !== 'PUT /admin/custom-providers/{identifier}') return undefined
  const { identifier } = await add(app, { ...customProvider, identifier: `custom:${newId()}` })
  return `/admin/custom-providers/${identifier}`
}

suite('demoted admin', () => {
  const serverFor = sharedServers()

  async function admin(env: Record<string, string> = {}) {
    const { app } = await serverFor({
      ...autoconfirm,
      AUTH_OAUTH_SERVER_ENABLED: 'true',
      AUTH_USERNAMES_ENABLED: 'true',
      ...env,
    })
    const { email, user } = await signUpUser(app)
    await confirmAddress(app, user.id)
    const url = `/admin/users/${user.id}`
    await adminCall(app, 'PUT', url, { role: 'service_role' })
    const session = await signedIn(app, email)
    const send = (method: Method, path: string, payload?: object) =>
      call(app, path, payload, { method, token: session.access_token })
    assert.equal((await send('GET', '/admin/users')).statusCode, 200)
    return { app, url, user, session, send }
  }

  test('cannot use the previous token or restore the role', async () => {
    const { app, url, session, send } = await admin()
    await adminCall(app, 'PUT', url, { role: 'authenticated' })

    const promotion = { role: 'service_role' }
    assert.deepEqual(statusAndCode(await send('PUT', url, promotion)), [403, 'session_not_found'])
    assert.deepEqual(statusAndCode(await send('GET', '/admin/users')), [403, 'session_not_found'])
    const refreshed = await refresh(app, session.refresh_token)
    assert.deepEqual(statusAndCode(refreshed), [400, 'refresh_token_not_found'])
    assert.equal((await adminCall(app, 'GET', url)).role, 'authenticated')
  })

  test('cannot use the token when the role changed in the database only', async () => {
    const { app, url, user, send } = await admin()
    const demotion = { role: 'authenticated' }
    await app.db.updateTable('users').set(demotion).where('id', '=', user.id).execute()

    assert.deepEqual(statusAndCode(await send('PUT', url, { role: 'service_role' })), [
      403,
      'not_admin',
    ])
    assert.deepEqual(statusAndCode(await send('GET', '/admin/audit')), [403, 'not_admin'])
    const own = await send('PUT', '/user', { app_metadata: { plan: 'gold' } })
    assert.deepEqual(statusAndCode(own), [403, 'not_admin'])
  })

  test('cannot use the token once its session has expired', async () => {
    const limits = { AUTH_SESSIONS_TIMEBOX: '2h', AUTH_SESSIONS_INACTIVITY_TIMEOUT: '10m' }
    const { app, user, send } = await admin(limits)
    const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000)
    const timesAre = (times: { created_at: Date; refreshed_at: Date | null }) =>
      app.db.updateTable('sessions').set(times).where('user_id', '=', user.id).execute()

    await timesAre({ created_at: ago(119), refreshed_at: ago(9) })
    assert.deepEqual(statusAndCode(await send('GET', '/admin/users')), [200, ''])
    for (const times of [
      { created_at: ago(120), refreshed_at: ago(9) },
      { created_at: ago(119), refreshed_at: ago(10) },
      { created_at: ago(10), refreshed_at: null },
    ]) {
      await timesAre(times)
      assert.deepEqual(statusAndCode(await send('GET', '/admin/users')), [403, 'session_expired'])
    }
  })

  test('cannot complete a write that was authorized before the demotion', async () => {
    const demoted = await admin()
    await rejectedWhileDemoted(demoted, demoted.url)
    assert.equal((await adminCall(demoted.app, 'GET', demoted.url)).role, 'authenticated')
  })

  test('cannot complete a write to another user that was authorized before the demotion', async () => {
    const demoted = await admin()
    const other = `/admin/users/${(await signUpUser(demoted.app)).user.id}`
    await rejectedWhileDemoted(demoted, other)
    assert.equal((await adminCall(demoted.app, 'GET', other)).role, 'authenticated')
  })

  /** Their own change of the role at `path` waits for their demotion. */
  async function rejectedWhileDemoted(demoted: Awaited<ReturnType<typeof admin>>, path: string) {
    const { app, url, user, send } = demoted
    const lock = await lockUserRow(app, user.id)
    const demotion = await lock.queue(1, () => asAdmin(app, 'PUT', url, { role: 'authenticated' }))
    const change = await lock.queue(2, () => send('PUT', path, { role: 'service_role' }))
    await lock.release()
    assert.equal((await demotion.response).statusCode, 200)
    assert.deepEqual(statusAndCode(await change.response), [403, 'session_not_found'])
  }

  test('allows two admins to update each other concurrently', async () => {
    const [one, other] = [await admin(), await admin()]
    const change = { user_metadata: { seen: true } }
    const lock = await lockUserRow(one.app, one.user.id)
    const first = await lock.queue(1, () => one.send('PUT', other.url, change))
    const second = await lock.queue(2, () => other.send('PUT', one.url, change))
    await lock.release()
    for (const { response } of [first, second]) {
      assert.deepEqual(statusAndCode(await response), [200, ''])
    }
  })

  test('cannot change the signing keys with a request authorized before the demotion', async () => {
    const { app, url, send } = await admin()
    const keys = async () => (await app.jwt.keys.list()).map(({ kid, state }) => ({ kid, state }))
    const before = await keys()
    const lock = await lockKeys(app)
    const rotation = await lock.queue(1, () => send('POST', '/admin/keys', { action: 'rotate' }))
    await adminCall(app, 'PUT', url, { role: 'authenticated' })
    await lock.release()
    assert.deepEqual(statusAndCode(await rotation.response), [403, 'session_not_found'])
    assert.deepEqual(await keys(), before)
    assert.deepEqual(statusAndCode(await send('GET', '/admin/keys')), [403, 'session_not_found'])
  })

  // An import takes a file in the place of JSON.
  const isOfJson = (name: string) => name !== 'POST /admin/users/import'
  for (const write of Object.keys(adminWrites).filter(isOfJson)) {
    test(`cannot complete ${write} authorized before the demotion`, async () => {
      const env = {
        AUTH_ADMIN_IMPERSONATION_ENABLED: 'true',
        AUTH_CONSOLE_ENABLED: 'true',
        AUTH_EVENTS_ENABLED: 'true',
        AUTH_ORGANIZATIONS_ENABLED: 'true',
      }
      const { app, user, send } = await admin(env)
      const [method = '', path = ''] = write.split(' ')
      const url = (await existingUrl(app, write)) ?? path.replaceAll(/\{\w+\}/g, newId)
      const lock = await lockUserRow(app, user.id)
      const late = await lock.queue(1, () => send(method as Method, url, bodies[path] ?? {}))
      const demotion = `update auth.users set role = 'authenticated' where id = $1`
      await lock.query(demotion, [user.id])
      await lock.release()
      assert.deepEqual(statusAndCode(await late.response), [403, 'not_admin'])
    })
  }

  test('revokes the user’s sessions on a role change and keeps them when the role stays the same', async () => {
    const { app } = await serverFor(autoconfirm)
    const { user, refresh_token } = await signUpUser(app)
    const url = `/admin/users/${user.id}`
    await adminCall(app, 'PUT', url, { role: 'authenticated' })
    const unchanged = await refresh(app, refresh_token)
    assert.equal(unchanged.statusCode, 200)
    await adminCall(app, 'PUT', url, { role: 'editor' })
    const ended = await refresh(app, unchanged.json().refresh_token)
    assert.deepEqual(statusAndCode(ended), [400, 'refresh_token_not_found'])
  })

  test('allows an admin to demote themselves', async () => {
    const { app, url, send } = await admin()
    assert.equal((await send('PUT', url, { role: 'authenticated' })).statusCode, 200)
    assert.equal((await adminCall(app, 'GET', url)).role, 'authenticated')
  })
})
