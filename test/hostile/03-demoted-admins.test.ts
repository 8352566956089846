/** Somebody who was an admin, with what they still hold from then. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { adminCall, asAdmin } from '../support/admin.ts'
import { adminWrites } from '../support/admin-writes.ts'
import { holdKeys, holdPerson } from '../support/held-person.ts'
import { autoconfirm, newAddress, newPerson, signedIn } from '../support/people.ts'
import { call, outcomeOf, refresh } from '../support/requests.ts'
import { sharedServers } from '../support/shared-servers.ts'

type Method = 'GET' | 'PUT' | 'POST' | 'DELETE'

/** What a write must say to be let in, where it must say anything. */
const bodies: Record<string, object> = {
  '/admin/users': { email: newAddress() },
  '/admin/users/{user_id}': { email: newAddress() },
  '/admin/users/{user_id}/impersonate': { reason: 'they asked for help' },
  '/admin/generate_link': { type: 'magiclink', email: newAddress() },
  '/admin/keys': { action: 'rotate' },
  '/admin/webhooks': { url: 'https://hooks.example/events' },
  '/admin/webhooks/{webhook_id}/replay': { dead: true },
  '/invite': { email: newAddress() },
}

suite('a demoted admin', () => {
  const serverFor = sharedServers()

  async function admin(env: Record<string, string> = {}) {
    const { app } = await serverFor({ ...autoconfirm, ...env })
    const { email, user } = await newPerson(app)
    const url = `/admin/users/${user.id}`
    await adminCall(app, 'PUT', url, { role: 'service_role' })
    const session = await signedIn(app, email)
    const ask = (method: Method, path: string, payload?: object) =>
      call(app, path, payload, { method, token: session.access_token })
    assert.equal((await ask('GET', '/admin/users')).statusCode, 200)
    return { app, url, user, session, ask }
  }

  test('is none with the token from before, and does not come back', async () => {
    const { app, url, session, ask } = await admin()
    await adminCall(app, 'PUT', url, { role: 'authenticated' })

    const promotion = { role: 'service_role' }
    assert.deepEqual(outcomeOf(await ask('PUT', url, promotion)), [403, 'session_not_found'])
    assert.deepEqual(outcomeOf(await ask('GET', '/admin/users')), [403, 'session_not_found'])
    const refreshed = await refresh(app, session.refresh_token)
    assert.deepEqual(outcomeOf(refreshed), [400, 'refresh_token_not_found'])
    assert.equal((await adminCall(app, 'GET', url)).role, 'authenticated')
  })

  test('is none either when the role was changed in the database alone', async () => {
    const { app, url, user, ask } = await admin()
    const demotion = { role: 'authenticated' }
    await app.db.updateTable('users').set(demotion).where('id', '=', user.id).execute()

    assert.deepEqual(outcomeOf(await ask('PUT', url, { role: 'service_role' })), [403, 'not_admin'])
    assert.deepEqual(outcomeOf(await ask('GET', '/admin/audit')), [403, 'not_admin'])
    const own = await ask('PUT', '/user', { app_metadata: { plan: 'gold' } })
    assert.deepEqual(outcomeOf(own), [403, 'not_admin'])
  })

  test('is none once the session is over, for as long as the token may go on', async () => {
    const limits = { AUTH_SESSIONS_TIMEBOX: '2h', AUTH_SESSIONS_INACTIVITY_TIMEOUT: '10m' }
    const { app, user, ask } = await admin(limits)
    const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000)
    const timesAre = (times: { created_at: Date; refreshed_at: Date | null }) =>
      app.db.updateTable('sessions').set(times).where('user_id', '=', user.id).execute()

    await timesAre({ created_at: ago(119), refreshed_at: ago(9) })
    assert.deepEqual(outcomeOf(await ask('GET', '/admin/users')), [200, ''])
    for (const times of [
      { created_at: ago(120), refreshed_at: ago(9) },
      { created_at: ago(119), refreshed_at: ago(10) },
      { created_at: ago(10), refreshed_at: null },
    ]) {
      await timesAre(times)
      assert.deepEqual(outcomeOf(await ask('GET', '/admin/users')), [403, 'session_expired'])
    }
  })

  test('does not write what was let in just before', async () => {
    const demoted = await admin()
    await refusedWhileDemoted(demoted, demoted.url)
    assert.equal((await adminCall(demoted.app, 'GET', demoted.url)).role, 'authenticated')
  })

  test('does not write to others either', async () => {
    const demoted = await admin()
    const other = `/admin/users/${(await newPerson(demoted.app)).user.id}`
    await refusedWhileDemoted(demoted, other)
    assert.equal((await adminCall(demoted.app, 'GET', other)).role, 'authenticated')
  })

  /** Their own change of the role at `path` waits behind their demotion. */
  async function refusedWhileDemoted(demoted: Awaited<ReturnType<typeof admin>>, path: string) {
    const { app, url, user, ask } = demoted
    const held = await holdPerson(app, user.id)
    const demotion = await held.queue(1, () => asAdmin(app, 'PUT', url, { role: 'authenticated' }))
    const change = await held.queue(2, () => ask('PUT', path, { role: 'service_role' }))
    await held.release()
    assert.equal((await demotion.answer).statusCode, 200)
    assert.deepEqual(outcomeOf(await change.answer), [403, 'session_not_found'])
  }

  test('two who change each other at once both do', async () => {
    const [one, other] = [await admin(), await admin()]
    const change = { user_metadata: { seen: true } }
    const held = await holdPerson(one.app, one.user.id)
    const first = await held.queue(1, () => one.ask('PUT', other.url, change))
    const second = await held.queue(2, () => other.ask('PUT', one.url, change))
    await held.release()
    for (const { answer } of [first, second]) assert.deepEqual(outcomeOf(await answer), [200, ''])
  })

  test('does not change the signing keys when let in just before', async () => {
    const { app, url, ask } = await admin()
    const keys = async () => (await app.jwt.keys.list()).map(({ kid, state }) => ({ kid, state }))
    const before = await keys()
    const held = await holdKeys(app)
    const rotation = await held.queue(1, () => ask('POST', '/admin/keys', { action: 'rotate' }))
    await adminCall(app, 'PUT', url, { role: 'authenticated' })
    await held.release()
    assert.deepEqual(outcomeOf(await rotation.answer), [403, 'session_not_found'])
    assert.deepEqual(await keys(), before)
    assert.deepEqual(outcomeOf(await ask('GET', '/admin/keys')), [403, 'session_not_found'])
  })

  for (const write of Object.keys(adminWrites)) {
    test(`${write} is not done when let in just before`, async () => {
      const env = { AUTH_ADMIN_IMPERSONATION_ENABLED: 'true', AUTH_EVENTS_ENABLED: 'true' }
      const { app, user, ask } = await admin(env)
      const [method = '', path = ''] = write.split(' ')
      const url = path.replaceAll(/\{\w+\}/g, () => crypto.randomUUID())
      const held = await holdPerson(app, user.id)
      const late = await held.queue(1, () => ask(method as Method, url, bodies[path] ?? {}))
      const demotion = `update auth.users set role = 'authenticated' where id = $1`
      await held.query(demotion, [user.id])
      await held.release()
      assert.deepEqual(outcomeOf(await late.answer), [403, 'not_admin'])
    })
  }

  test('another role for somebody ends where they are signed in, the same one does not', async () => {
    const { app } = await serverFor(autoconfirm)
    const { user, refresh_token } = await newPerson(app)
    const url = `/admin/users/${user.id}`
    await adminCall(app, 'PUT', url, { role: 'authenticated' })
    const going = await refresh(app, refresh_token)
    assert.equal(going.statusCode, 200)
    await adminCall(app, 'PUT', url, { role: 'editor' })
    const ended = await refresh(app, going.json().refresh_token)
    assert.deepEqual(outcomeOf(ended), [400, 'refresh_token_not_found'])
  })

  test('an admin may step down', async () => {
    const { app, url, ask } = await admin()
    assert.equal((await ask('PUT', url, { role: 'authenticated' })).statusCode, 200)
    assert.equal((await adminCall(app, 'GET', url)).role, 'authenticated')
  })
})
