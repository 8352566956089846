/** Settings that owners change while the server runs. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Setting, Variable } from '../../../schemas/console/settings.ts'
import { adminCall, asAdmin } from '../../support/admin.ts'
import { createAdmin, withConsole } from '../../support/admins.ts'
import { withoutDrop } from '../../support/database.ts'
import { nextEmail } from '../../support/messages/mail-journeys.ts'
import { linkIn } from '../../support/messages/mail-links.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { until } from '../../support/processes/until.ts'
import { call, refresh, statusAndCode } from '../../support/requests.ts'
import { type App, build } from '../../support/server.ts'
import { newAddress, signUpUser } from '../../support/users.ts'

interface Settings {
  settings: Setting[]
}

interface Changes {
  changes: { id: number; name: string; before: string | null; after: string | null }[]
}

const put = (app: App, values: Record<string, string>) =>
  asAdmin(app, 'PUT', '/admin/settings', { values })

async function findSetting(app: App, name: string): Promise<Setting | undefined> {
  const { settings } = await adminCall<Settings>(app, 'GET', '/admin/settings')
  return settings.find((setting) => setting.name === name)
}

suite('/admin/settings', () => {
  /** For tests that change no settings. */
  const unchanged = sharedServers()

  test('applies a change immediately on this replica and within seconds on another', async (t) => {
    const server = await build(t, { env: withConsole })
    const { app } = server
    const database = withoutDrop(server.database)
    // Both send mail from one queue, so to one mail server.
    const env = { ...withConsole, ...server.mail.env }
    const other = (await build(t, { env, database })).app
    const { email } = await signUpUser(app)
    const values = {
      AUTH_MAILER_SUBJECTS_RECOVERY: 'A subject of today',
      AUTH_URI_ALLOW_LIST: 'https://new.example/**',
    }
    const changed = await put(app, values)
    assert.equal(changed.statusCode, 200, changed.body)
    const since = server.mail.messages.length
    await call(app, '/recover?redirect_to=https://new.example/home', { email })
    const message = await nextEmail(server, email, since)
    assert.equal(message.mail.subject, 'A subject of today')
    assert.match(decodeURIComponent(linkIn(message)), /new\.example\/home/)
    await until(() => other.config.AUTH_MAILER_SUBJECTS_RECOVERY === 'A subject of today')
    const locale = '/admin/mail/preview?kind=recovery'
    const preview = await adminCall<{ subject: string }>(other, 'GET', locale)
    assert.equal(preview.subject, 'A subject of today')
  })

  test('applies a change within seconds on a replica without the console', async (t) => {
    const { app, database } = await build(t, { env: withConsole })
    const shared = withoutDrop(database)
    const { config } = (await build(t, { env: {}, database: shared })).app
    assert.equal(config.AUTH_CONSOLE_ENABLED, false)
    await put(app, { AUTH_RATE_LIMIT_VERIFY: '7' })
    await until(() => config.AUTH_RATE_LIMIT_VERIFY === 7)
  })

  test('applies changed limits, notifications and session rules', async (t) => {
    const env = { ...withConsole, AUTH_RATE_LIMIT_HEADER: 'x-real-ip' }
    const { app } = await build(t, { env })
    const { refresh_token } = await signUpUser(app)
    const headers = { 'x-real-ip': '203.0.113.9' }
    const verify = () =>
      call(app, '/verify', { type: 'email', token: '123456', email: newAddress() }, { headers })
    assert.notEqual((await verify()).statusCode, 429)
    const values = { AUTH_RATE_LIMIT_VERIFY: '2', AUTH_SESSIONS_TIMEBOX: '1h' }
    assert.equal((await put(app, values)).statusCode, 200)
    await verify()
    assert.equal((await verify()).statusCode, 429)
    const created_at = new Date(Date.now() - 2 * 3_600_000)
    await app.db.updateTable('sessions').set({ created_at }).execute()
    assert.deepEqual(statusAndCode(await refresh(app, refresh_token)), [400, 'session_expired'])
    await asAdmin(app, 'DELETE', '/admin/settings/AUTH_SESSIONS_TIMEBOX')
    assert.equal(app.config.AUTH_SESSIONS_TIMEBOX, undefined)
  })

  test('enables a provider with a secret that is never returned', async (t) => {
    const { app } = await build(t, { env: withConsole })
    const secret = 'github-secret-of-the-test'
    const incomplete = await put(app, { AUTH_EXTERNAL_GITHUB_ENABLED: 'true' })
    assert.deepEqual(statusAndCode(incomplete), [422, 'invalid_settings'])
    const values = {
      AUTH_EXTERNAL_GITHUB_ENABLED: 'true',
      AUTH_EXTERNAL_GITHUB_CLIENT_ID: 'github-client',
      AUTH_EXTERNAL_GITHUB_SECRET: secret,
      AUTH_EXTERNAL_GITHUB_REDIRECT_URI: 'http://auth.example/callback',
    }
    const changed = await put(app, values)
    assert.equal(changed.statusCode, 200, changed.body)
    const { external } = (await app.inject('/settings')).json()
    assert.equal(external.github, true)
    const begun = await app.inject('/authorize?provider=github')
    assert.equal(begun.statusCode, 302, begun.body)
    assert.match(
      String(begun.headers.location),
      /^https:\/\/github\.com\/.*client_id=github-client/,
    )
    const answers = [changed.body]
    for (const url of ['settings', 'settings/history', 'config', 'audit', 'providers']) {
      answers.push((await asAdmin(app, 'GET', `/admin/${url}`)).body)
    }
    for (const body of answers) assert.ok(!body.includes(secret), body)
    const rows = await app.db.selectFrom('postern_settings').selectAll().execute()
    assert.equal(rows.length, 4)
    assert.ok(!JSON.stringify(rows).includes(secret))
    await asAdmin(app, 'DELETE', '/admin/settings/AUTH_EXTERNAL_GITHUB_ENABLED')
    assert.equal((await app.inject('/settings')).json().external.github, false)
  })

  test('rejects settings of the environment and invalid values', async (t) => {
    const env = { ...withConsole, AUTH_RATE_LIMIT_OTP: '77' }
    const { app } = await build(t, { env })
    assert.deepEqual(statusAndCode(await put(app, { AUTH_RATE_LIMIT_OTP: '5' })), [
      409,
      'setting_locked',
    ])
    const locked = await findSetting(app, 'AUTH_RATE_LIMIT_OTP')
    assert.deepEqual([locked?.locked, locked?.source, locked?.value], [true, 'environment', '77'])
    const wrong = [
      { AUTH_RATE_LIMIT_VERIFY: 'many' },
      { AUTH_JWT_SECRET: 'x'.repeat(40) },
      { DATABASE_URL: 'postgres://other' },
      { AUTH_MAILER_TEMPLATES_RECOVERY: '/etc/passwd' },
      { AUTH_RATE_LIMIT_VERIFY: '5', AUTH_SESSIONS_TIMEBOX: 'soon' },
    ]
    for (const values of wrong) {
      const response = await put(app, values)
      assert.deepEqual(statusAndCode(response), [422, 'invalid_settings'], JSON.stringify(values))
    }
    assert.deepEqual(await app.db.selectFrom('postern_settings').selectAll().execute(), [])
    assert.equal(app.config.AUTH_RATE_LIMIT_VERIFY, 30)
  })

  test('records each change with before and after, and reverts it', async (t) => {
    const { app } = await build(t, { env: withConsole })
    const owner = await createAdmin(app, 'owner')
    const name = 'AUTH_RATE_LIMIT_VERIFY'
    for (const text of ['10', '20']) {
      const changed = await owner.request('PUT', '/admin/settings', { values: { [name]: text } })
      assert.equal(changed.statusCode, 200, changed.body)
    }
    const setting = await findSetting(app, name)
    assert.deepEqual([setting?.value, setting?.updated_by], ['20', owner.email])
    const history = () => adminCall<Changes>(app, 'GET', '/admin/settings/history')
    const [second, first] = (await history()).changes
    assert.deepEqual([second?.before, second?.after], ['10', '20'])
    assert.deepEqual([first?.before, first?.after], [null, '10'])
    const stale = await owner.request('POST', `/admin/settings/history/${first?.id}/revert`)
    assert.deepEqual(statusAndCode(stale), [409, 'setting_changed'])
    const path = `/admin/settings/history/${second?.id}/revert`
    const reverted = await owner.request('POST', path, {})
    assert.equal(reverted.statusCode, 200, reverted.body)
    assert.equal(app.config.AUTH_RATE_LIMIT_VERIFY, 10)
    const [entry] = await adminCall<{ payload: { action: string; traits: object } }[]>(
      app,
      'GET',
      '/admin/audit',
    )
    assert.equal(entry?.payload.action, 'settings_changed')
    const { before, after } = Object(entry?.payload.traits)
    assert.deepEqual([before, after], [{ [name]: '20' }, { [name]: '10' }])
  })

  test('applies stored settings after a restart', async (t) => {
    const server = await build(t, { env: withConsole })
    await put(server.app, { AUTH_RATE_LIMIT_VERIFY: '7' })
    const database = withoutDrop(server.database)
    const { app } = await build(t, { env: {}, database })
    assert.equal(app.config.AUTH_RATE_LIMIT_VERIFY, 7)
  })

  test('GET /admin/config lists each variable, and for secrets only whether they are set', async () => {
    const { app, config } = await unchanged(withConsole)
    const response = await asAdmin(app, 'GET', '/admin/config')
    const { variables } = response.json<{ variables: Variable[] }>()
    const find = (name: string) => variables.find((variable) => variable.name === name)
    assert.ok(variables.length > 200)
    const secret = find('AUTH_JWT_SECRET')
    assert.deepEqual([secret?.secret, secret?.set, secret?.value], [true, true, null])
    assert.equal(find('AUTH_SITE_URL')?.value, config.AUTH_SITE_URL)
    assert.equal(find('AUTH_JWT_EXP')?.source, 'default')
    assert.ok(!response.body.includes(config.AUTH_JWT_SECRET))
    assert.ok(!response.body.includes(config.DATABASE_URL))
  })

  test('GET /admin/doctor returns the findings of the doctor command', async () => {
    const { app, config } = await unchanged(withConsole)
    const response = await asAdmin(app, 'GET', '/admin/doctor')
    assert.equal(response.statusCode, 200, response.body)
    const { results, passed } = response.json<{
      passed: number
      results: { check: string; level: string }[]
    }>()
    assert.ok(passed > 0)
    assert.ok(results.some(({ check, level }) => check === 'database' && level === 'pass'))
    assert.ok(!response.body.includes(config.AUTH_JWT_SECRET))
  })

  test('lists providers with their callback URL and tests one against its server', async () => {
    const { app } = await unchanged(withConsole)
    const { providers } = await adminCall<{
      providers: { name: string; enabled: boolean; callback_url: string }[]
    }>(app, 'GET', '/admin/providers')
    const github = providers.find(({ name }) => name === 'github')
    assert.deepEqual(
      [github?.enabled, github?.callback_url],
      [false, 'http://auth.example/callback'],
    )
    const tested = await adminCall<{ ok: boolean; steps: { ok: boolean; detail: string }[] }>(
      app,
      'POST',
      '/admin/providers/github/test',
    )
    assert.equal(tested.ok, false)
    assert.match(tested.steps[0]?.detail ?? '', /not switched on|not enabled/)
    const { hooks } = await adminCall<{ hooks: { name: string; enabled: boolean }[] }>(
      app,
      'GET',
      '/admin/hooks',
    )
    assert.ok(hooks.some(({ name }) => name === 'send-email'))
  })
})
