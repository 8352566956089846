/** Actions of the console on users: bulk changes, import, export, links and grants. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { User } from '../../../schemas/user.ts'
import { adminCall, asAdmin } from '../../support/admin.ts'
import { createAdmin, withConsole } from '../../support/admins.ts'
import { nextEmail } from '../../support/messages/mail-journeys.ts'
import { createClient, signInClient } from '../../support/oauth-server.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { statusAndCode } from '../../support/requests.ts'
import { type App, build } from '../../support/server.ts'
import { adminToken, newAddress, signUpUser } from '../../support/users.ts'

interface Outcome {
  done: string[]
  failed: { id: string; error_code: string }[]
}

interface Imported {
  left_out: Record<string, number>
  total: number
  accepted: number
  rejected: { line: number; reason: string }[]
}

suite('users in the console', () => {
  const serverFor = sharedServers()
  const server = async () => serverFor(withConsole)

  async function send(app: App, text: string, type: string, query = '', token?: string) {
    const authorization = `Bearer ${token ?? (await adminToken(app))}`
    return app.inject({
      method: 'POST',
      url: `/admin/users/import${query}`,
      headers: { authorization, 'content-type': type },
      payload: text,
    })
  }

  test('a bulk change applies where it can and lists the users for whom it failed', async () => {
    const { app } = await server()
    const [one, other] = [await signUpUser(app), await signUpUser(app)]
    const owner = await createAdmin(app, 'owner')
    const operator = await createAdmin(app, 'operator')
    const unknown = crypto.randomUUID()
    const ids = [one.user.id, unknown, owner.id]
    const ban = { action: 'ban', ids, ban_duration: '24h' }
    const banned = (await operator.request('POST', '/admin/users/bulk', ban)).json<Outcome>()
    assert.deepEqual(banned.done, [one.user.id])
    const failures = banned.failed.map(({ id, error_code }) => [id, error_code])
    assert.deepEqual(failures, [
      [unknown, 'user_not_found'],
      [owner.id, 'admin_role_required'],
    ])
    const fetchUser = () => adminCall(app, 'GET', `/admin/users/${one.user.id}`)
    assert.ok((await fetchUser()).banned_until)
    const unban = { action: 'unban', ids: [one.user.id] }
    await adminCall<Outcome>(app, 'POST', '/admin/users/bulk', unban)
    assert.equal((await fetchUser()).banned_until, undefined)
    const deletion = { action: 'delete', ids: [one.user.id, other.user.id] }
    const deleted = await adminCall<Outcome>(app, 'POST', '/admin/users/bulk', deletion)
    assert.deepEqual(deleted.done, [one.user.id, other.user.id])
    const gone = await asAdmin(app, 'GET', `/admin/users/${one.user.id}`)
    assert.equal(gone.statusCode, 404)
    const bare = await asAdmin(app, 'POST', '/admin/users/bulk', { action: 'ban', ids })
    assert.deepEqual(statusAndCode(bare), [400, 'validation_failed'])
  })

  test('stores nothing in a dry run of an import and lists each rejected row and what is left out', async () => {
    const { app } = await server()
    const taken = (await signUpUser(app)).email
    const fresh = newAddress()
    const rows = [`${fresh},true,,Ann`, `${taken},true,,Bob`, 'x@example.com,,secret,']
    const csv = `email,email_confirm,password,nickname\n${rows.join('\n')}\n`
    const dry = (await send(app, csv, 'text/csv', '?dry_run=true')).json<Imported>()
    assert.deepEqual([dry.total, dry.accepted], [3, 1])
    assert.deepEqual(dry.left_out, { nickname: 2 })
    assert.deepEqual(
      dry.rejected.map(({ line }) => line),
      [3, 4],
    )
    const find = () => adminCall<{ users: User[] }>(app, 'GET', `/admin/users?q=${fresh}`)
    assert.deepEqual((await find()).users, [])
    const real = (await send(app, csv, 'text/csv')).json<Imported>()
    assert.equal(real.accepted, 1)
    assert.ok((await find()).users[0]?.email_confirmed_at)
  })

  test('rejects an import of users with an admin role', async () => {
    const { app } = await server()
    const { session } = await createAdmin(app, 'operator')
    const rows = [
      { email: newAddress(), role: 'service_role' },
      { email: newAddress(), role: 'editor' },
    ]
    const text = rows.map((row) => JSON.stringify(row)).join('\n')
    const type = 'application/x-ndjson'
    const answer = (await send(app, text, type, '', session.access_token)).json<Imported>()
    assert.deepEqual([answer.total, answer.accepted], [2, 1])
    assert.match(answer.rejected[0]?.reason ?? '', /gives access to the admin API/)
  })

  test('rejects an import of invalid CSV and one of more than 10 MiB', async () => {
    const { app } = await server()
    const broken = await send(app, 'email,role\n"a@example.com', 'text/csv')
    assert.deepEqual(statusAndCode(broken), [400, 'validation_failed'])
    const large = await send(app, 'x'.repeat(10_485_761), 'text/csv')
    assert.equal(large.statusCode, 413)
  })

  test('exports the filtered list without secrets and formulas', async (t) => {
    const { app } = await build(t, { env: withConsole })
    const formula = { full_name: '=1+1' }
    const email = `=cmd-${crypto.randomUUID().slice(0, 8)}@example.com`
    await adminCall(app, 'POST', '/admin/users', { email, password: 'a very secret passphrase' })
    await adminCall(app, 'POST', '/admin/users', {
      email: newAddress(),
      email_confirm: true,
      user_metadata: formula,
    })
    const csv = await asAdmin(app, 'GET', '/admin/users/export?state=unconfirmed')
    assert.equal(csv.statusCode, 200, csv.body)
    assert.match(String(csv.headers['content-type']), /^text\/csv/)
    assert.match(String(csv.headers['content-disposition']), /attachment; filename="users\.csv"/)
    const lines = csv.body.trim().split('\n')
    assert.equal(lines.length, 2)
    assert.ok(csv.body.includes(`'${email}`), csv.body)
    assert.ok(!csv.body.includes('argon2'))
    const ndjson = await asAdmin(app, 'GET', '/admin/users/export?format=ndjson')
    const users = ndjson.body
      .trim()
      .split('\n')
      .map((line): User => JSON.parse(line))
    assert.deepEqual(users.map((user) => user.user_metadata.full_name).toSorted(), [
      '=1+1',
      undefined,
    ])
  })

  test('emails each link type to a user it applies to', async () => {
    const served = await server()
    const { app } = served
    const { user, email } = await signUpUser(app)
    const url = `/admin/users/${user.id}/send_link`
    for (const type of ['magiclink', 'recovery']) {
      const since = served.mail.messages.length
      await adminCall<object>(app, 'POST', url, { type })
      await nextEmail(served, email, since)
    }
    const confirmation = await asAdmin(app, 'POST', url, { type: 'confirmation' })
    assert.deepEqual(statusAndCode(confirmation), [400, 'validation_failed'])
    const unconfirmed = newAddress()
    const { id } = await adminCall(app, 'POST', '/admin/users', { email: unconfirmed })
    for (const type of ['confirmation', 'invite']) {
      const since = served.mail.messages.length
      await adminCall<object>(app, 'POST', `/admin/users/${id}/send_link`, { type })
      await nextEmail(served, unconfirmed, since)
    }
  })

  test('lists the grants of a user to applications and revokes one', async () => {
    const { app } = await server()
    const client = await createClient(app)
    const session = await signUpUser(app)
    const tokens = await signInClient(app, client, session)
    const url = `/admin/users/${session.user.id}/grants`
    const [grant] = await adminCall<{ client: { id: string } }[]>(app, 'GET', url)
    assert.equal(grant?.client.id, client.client_id)
    const path = `/admin/oauth/clients/${client.client_id}/consents`
    const { consents } = await adminCall<{ consents: { user_id: string }[] }>(app, 'GET', path)
    assert.equal(consents[0]?.user_id, session.user.id)
    const taken = await asAdmin(app, 'DELETE', `${url}/${client.client_id}`)
    assert.equal(taken.statusCode, 204, taken.body)
    assert.deepEqual(await adminCall<object[]>(app, 'GET', url), [])
    const authorization = `Bearer ${tokens.access_token}`
    const info = await app.inject({ url: '/oauth/userinfo', headers: { authorization } })
    assert.equal(info.statusCode, 401)
    const again = await asAdmin(app, 'DELETE', `${url}/${client.client_id}`)
    assert.equal(again.statusCode, 404, again.body)
  })

  test('filters the audit log by user, action and time, paginates it by cursor and exports it', async () => {
    const { app } = await server()
    const { user, email } = await signUpUser(app)
    for (const city of ['Bonn', 'Köln', '=1+1']) {
      await adminCall(app, 'PUT', `/admin/users/${user.id}`, { user_metadata: { city } })
    }
    const filter = `user_id=${user.id}&action=user_modified`
    const seen: { id: string }[] = []
    let next: string | undefined = `/admin/audit?${filter}&limit=2`
    while (next) {
      const page = await asAdmin(app, 'GET', next)
      seen.push(...page.json<{ id: string }[]>())
      next = /<([^>]+)>; rel="next"/.exec(String(page.headers.link ?? ''))?.[1]
    }
    assert.equal(new Set(seen.map(({ id }) => id)).size, 3)
    const later = await adminCall<object[]>(
      app,
      'GET',
      `/admin/audit?${filter}&from=${new Date(Date.now() + 60_000).toISOString()}`,
    )
    assert.deepEqual(later, [])
    const csv = await asAdmin(app, 'GET', `/admin/audit/export?${filter}`)
    assert.equal(csv.body.trim().split('\n').length, 4, csv.body)
    assert.ok(csv.body.includes(email))
    const entries = await adminCall<{ payload: { action: string } }[]>(app, 'GET', '/admin/audit')
    assert.equal(entries[0]?.payload.action, 'audit_exported')
  })
})
