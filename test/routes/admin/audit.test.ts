import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'

import { sql } from 'kysely'

import { adminCall, asAdmin } from '../../support/admin.ts'
import { endingOfSuite } from '../../support/processes/ending.ts'
import { refresh } from '../../support/requests.ts'
import { type App, build } from '../../support/server.ts'
import {
  adminCreatedUser,
  adminToken,
  autoconfirm,
  bodyOf200,
  password,
  signIn,
  signUpUser,
} from '../../support/users.ts'

interface Entry {
  id: string
  payload: {
    actor_id: string
    actor_username: string
    actor_name?: string
    actor_via_sso: boolean
    action: string
    log_type: string
    traits?: Record<string, unknown>
  }
  created_at: string
  ip_address: string
}

suite('GET /admin/audit', () => {
  const ending = endingOfSuite()
  const lines: string[] = []
  let app: App
  before(async () => {
    app = (await build(ending, { lines })).app
  })

  test('truncates the actor’s name to a maximum length', async () => {
    const full_name = `${'x'.repeat(253)}😀${'x'.repeat(9000)}`
    const { id, email } = await adminCreatedUser(app, {
      email: 'long@example.com',
      password,
      email_confirm: true,
      user_metadata: { full_name },
    })
    assert.equal((await signIn(app, { email })).statusCode, 200)
    const [entry] = await list('query=author:long@example.com')
    assert.equal(entry?.payload.actor_id, id)
    assert.equal(entry?.payload.actor_name, `${'x'.repeat(253)}\ufffd…`)
    await adminCall(app, 'DELETE', `/admin/users/${id}`)
    await sql`delete from auth.audit_log_entries`.execute(app.db)
  })

  test('lists each admin change with actor, target and IP address', async () => {
    const authorization = `Bearer ${await adminToken(app)}`
    const headers = { authorization, 'user-agent': 'console/7', 'x-forwarded-for': '203.0.113.7' }
    const email = 'audited@example.com'
    const post = { method: 'POST', url: '/admin/users', headers, payload: { email } } as const
    const { id } = (await app.inject(post)).json()
    const url = `/admin/users/${id}`
    await adminCall(app, 'PUT', url, { user_metadata: { a: 1 }, password: 'a long new password' })
    await adminCall(app, 'POST', '/admin/generate_link', { type: 'recovery', email })
    await adminCall(app, 'POST', '/admin/generate_link', { type: 'invite', email: 'new@b.co' })
    await adminCall(app, 'DELETE', url)

    const entries = await list('')
    assert.deepEqual(
      entries.map(({ payload }) => [payload.action, payload.log_type]),
      [
        ['user_deleted', 'team'],
        ['user_invited', 'team'],
        ['user_recovery_requested', 'user'],
        ['user_modified', 'user'],
        ['user_signedup', 'team'],
      ],
    )
    const first = entries.at(-1)
    assert.equal(first?.ip_address, '203.0.113.7')
    const { actor_id, actor_username, actor_via_sso } = first?.payload ?? {}
    const { after, ...traits } = first?.payload.traits ?? {}
    assert.deepEqual(
      { actor_id, actor_username, actor_via_sso, traits },
      {
        actor_id: '00000000-0000-0000-0000-000000000000',
        actor_username: 'service_role',
        actor_via_sso: false,
        traits: { user_id: id, user_email: email, user_phone: '', user_agent: 'console/7' },
      },
    )
    assert.deepEqual(entries[3]?.payload.traits?.fields, ['user_metadata', 'password'])
  })

  test('does not list rejected requests', async () => {
    const before = await list('')
    await asAdmin(app, 'POST', '/admin/users', { email: 'nonsense' })
    await asAdmin(app, 'DELETE', `/admin/users/${crypto.randomUUID()}`)
    assert.deepEqual(await list(''), before)
  })

  test('writes one log line per entry, without addresses and secrets', async () => {
    const line = lines.find((text) => text.includes('audit: user_modified'))
    assert.equal(JSON.parse(line ?? '{}').audit.action, 'user_modified')
    assert.ok(!lines.some((text) => text.includes('audited@example.com')))
    assert.ok(!lines.some((text) => text.includes('a long new password')))
  })

  const searches: [string, number][] = [
    ['action:USER_MOD', 1],
    ['action:user', 5],
    ['action:user%mod', 0],
    ['action:nothing', 0],
    ['type:team', 3],
    ['type:user', 2],
    ['author:service', 5],
    ['author:SERVICE_ROLE', 5],
    ['author:serviceXrole', 0],
    ['author:', 5],
  ]
  for (const [query, found] of searches) {
    test(`query=${query} finds ${found}`, async () => {
      assert.equal((await list(`query=${encodeURIComponent(query)}`)).length, found)
    })
  }

  test('paginates with the headers Link and X-Total-Count', async () => {
    const all = await list('')
    const response = await asAdmin(app, 'GET', '/admin/audit?page=2&per_page=2&query=action:user')
    assert.deepEqual(
      response.json<Entry[]>().map(({ id }) => id),
      all.slice(2, 4).map(({ id }) => id),
    )
    assert.equal(response.headers['x-total-count'], '5')
    const link = (page: number, rel: string) =>
      `</admin/audit?page=${page}&per_page=2&query=action%3Auser>; rel="${rel}"`
    assert.equal(response.headers.link, `${link(3, 'next')}, ${link(3, 'last')}`)
  })

  for (const query of ['user', 'who:ann', 'actor:ann', ':', 'page=-1']) {
    test(`rejects ${query}`, async () => {
      const parameter = query.includes('=') ? query : `query=${query}`
      const response = await asAdmin(app, 'GET', `/admin/audit?${parameter}`)
      assert.equal(response.json().error_code, 'validation_failed')
    })
  }

  test('AUTH_AUDIT_LOG_DISABLE_POSTGRES: writes the log line only', async (t) => {
    const lines: string[] = []
    const env = { ...autoconfirm, AUTH_AUDIT_LOG_DISABLE_POSTGRES: 'true' }
    const { app } = await build(t, { env, lines })
    const { refresh_token } = await signUpUser(app)
    bodyOf200(await refresh(app, refresh_token))
    const { rows } = await sql`select 1 from auth.audit_log_entries`.execute(app.db)
    assert.equal(rows.length, 0)
    for (const action of ['user_signedup', 'login', 'token_refreshed']) {
      assert.ok(lines.some((text) => text.includes(`audit: ${action}`)))
    }
  })

  function list(query: string): Promise<Entry[]> {
    return adminCall(app, 'GET', `/admin/audit?${query}`)
  }
})
