/** The table of admins. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Admin } from '../../../schemas/console/admin.ts'
import { adminCall, asAdmin } from '../../support/admin.ts'
import { createAdmin, removeAdmins, withConsole } from '../../support/admins.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call, statusAndCode } from '../../support/requests.ts'
import { confirmAddress, signUpUser } from '../../support/users.ts'

suite('/admin/admins', () => {
  const serverFor = sharedServers()
  const server = async () => (await serverFor(withConsole)).app

  test('lists, adds by address, changes and removes admins, and records each change', async () => {
    const app = await server()
    const owner = await createAdmin(app, 'owner')
    const { user, email } = await signUpUser(app)
    await confirmAddress(app, user.id)
    const added = await owner.request('POST', '/admin/admins', { email, role: 'support' })
    assert.equal(added.statusCode, 201, added.body)
    assert.deepEqual([added.json().user_id, added.json().role], [user.id, 'support'])
    const url = `/admin/admins/${user.id}`
    const changed = await owner.request('PUT', url, { role: 'operator' })
    assert.equal(changed.json().role, 'operator', changed.body)
    const { admins } = await adminCall<{ admins: Admin[] }>(app, 'GET', '/admin/admins')
    assert.equal(admins.find(({ user_id: id }) => id === user.id)?.role, 'operator')
    assert.equal((await owner.request('DELETE', url)).statusCode, 204)
    assert.deepEqual(statusAndCode(await owner.request('DELETE', url)), [404, 'admin_not_found'])

    const entries = await app.db
      .selectFrom('audit_log_entries')
      .select('payload')
      .orderBy('created_at', 'desc')
      .limit(3)
      .execute()
    const recorded = entries.map(({ payload: { action, actor_id, traits } }) => ({
      action,
      by: actor_id,
      user: traits?.user_id,
      before: traits?.before,
    }))
    assert.deepEqual(recorded, [
      { action: 'admin_removed', by: owner.id, user: user.id, before: { role: 'operator' } },
      { action: 'admin_role_changed', by: owner.id, user: user.id, before: { role: 'support' } },
      { action: 'admin_added', by: owner.id, user: user.id, before: undefined },
    ])
    const waiting = app.db.selectFrom('postern_event_inbox').select('type')
    const reported = app.db.selectFrom('postern_events').select('type')
    const types = await waiting.unionAll(reported).execute()
    for (const type of ['admin.added', 'admin.changed', 'admin.removed']) {
      assert.ok(
        types.some((event) => event.type === type),
        type,
      )
    }
  })

  test('rejects an existing admin, an unknown user and an unknown role', async () => {
    const app = await server()
    const { id } = await createAdmin(app, 'support')
    const add = (body: object) => asAdmin(app, 'POST', '/admin/admins', body)
    const again = await add({ user_id: id, role: 'owner' })
    assert.deepEqual(statusAndCode(again), [409, 'admin_exists'])
    const unknown = await add({ user_id: crypto.randomUUID(), role: 'owner' })
    assert.deepEqual(statusAndCode(unknown), [404, 'user_not_found'])
    const role = await add({ user_id: id, role: 'root' })
    assert.deepEqual(statusAndCode(role), [400, 'validation_failed'])
    assert.deepEqual(statusAndCode(await add({ role: 'owner' })), [400, 'validation_failed'])
  })

  test('rejects demoting, removing and deleting the last owner', async () => {
    const app = await server()
    await removeAdmins(app)
    const { id, request } = await createAdmin(app, 'owner')
    await createAdmin(app, 'operator')
    const last = [422, 'last_owner']
    const url = `/admin/admins/${id}`
    assert.deepEqual(statusAndCode(await request('PUT', url, { role: 'operator' })), last)
    assert.deepEqual(statusAndCode(await request('DELETE', url)), last)
    for (const soft of [true, false]) {
      const body = { should_soft_delete: soft }
      assert.deepEqual(
        statusAndCode(await asAdmin(app, 'DELETE', `/admin/users/${id}`, body)),
        last,
      )
    }
    assert.equal((await request('PUT', url, { role: 'owner' })).statusCode, 200)
    await createAdmin(app, 'owner')
    assert.equal((await request('PUT', url, { role: 'operator' })).json().role, 'operator')
  })

  test('rejects the account deletion of the last owner', async () => {
    const { app } = await serverFor({ ...withConsole, AUTH_USER_SELF_DELETE_ENABLED: 'true' })
    const { request } = await createAdmin(app, 'owner')
    assert.deepEqual(statusAndCode(await request('DELETE', '/user', {})), [422, 'last_owner'])
  })

  test('does not count a softly deleted owner as one that remains', async () => {
    const app = await server()
    await removeAdmins(app)
    const [deleted, { id, request }] = [
      await createAdmin(app, 'owner'),
      await createAdmin(app, 'owner'),
    ]
    const gone = await request('DELETE', `/admin/users/${deleted.id}`, { should_soft_delete: true })
    assert.equal(gone.statusCode, 200, gone.body)
    const removed = await request('DELETE', `/admin/admins/${id}`)
    assert.deepEqual(statusAndCode(removed), [422, 'last_owner'])
    const { admins } = (await asAdmin(app, 'GET', '/admin/admins')).json()
    assert.deepEqual(
      admins.map(({ user_id }: { user_id: string }) => user_id),
      [id],
    )
  })

  test('does not list a deleted user as admin', async () => {
    const app = await server()
    const { id } = await createAdmin(app, 'support')
    assert.equal((await asAdmin(app, 'DELETE', `/admin/users/${id}`)).statusCode, 200)
    const { admins } = await adminCall<{ admins: Admin[] }>(app, 'GET', '/admin/admins')
    assert.equal(
      admins.find((admin) => admin.user_id === id),
      undefined,
    )
  })

  test('returns 404 at each endpoint of the console without AUTH_CONSOLE_ENABLED', async () => {
    const { app } = await serverFor({})
    for (const url of ['/admin/admins', '/admin/me', '/console', '/console/session', '/sign-in']) {
      assert.equal((await asAdmin(app, 'GET', url)).statusCode, 404, url)
    }
    assert.equal((await call(app, '/console/first_admin', {})).statusCode, 404)
  })
})
