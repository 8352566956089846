/** Each admin write is in the audit log with its actor, and with before and after values that are not secret. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { before, suite, test } from 'node:test'

import { exportJWK, generateKeyPair } from 'jose'
import { sql } from 'kysely'

import type { AuditPayload } from '../../../db/tables/audit.ts'
import { adminCall, asAdmin } from '../../support/admin.ts'
import { endingOfSuite } from '../../support/processes/ending.ts'
import { type App, build } from '../../support/server.ts'
import { adminWrites, type Keys, secret, user } from '../../support/writes/admin-writes.ts'

suite('audit log of admin writes', () => {
  const ending = endingOfSuite()
  const lines: string[] = []
  let app: App
  before(async () => {
    const env = {
      AUTH_ADMIN_IMPERSONATION_ENABLED: 'true',
      AUTH_CONSOLE_ENABLED: 'true',
      AUTH_EVENTS_ENABLED: 'true',
      AUTH_OAUTH_SERVER_ENABLED: 'true',
      AUTH_USERNAMES_ENABLED: 'true',
      AUTH_ORGANIZATIONS_ENABLED: 'true',
    }
    app = (await build(ending, { env, lines })).app
  })

  test('covers each admin write of the API document', () => {
    assert.deepEqual(Object.keys(adminWrites).toSorted(), documentedWrites())
  })

  for (const [name, { action, write }] of Object.entries(adminWrites)) {
    test(`records ${name} as ${action} with before and after`, async () => {
      const expected = await write(app)
      const { traits = {}, ...entry } = await newest(app)
      assert.deepEqual([entry.action, entry.actor_username], [action, 'service_role'])
      const { before, after } = traits
      assert.deepEqual(
        { before, after },
        { before: expected.before, after: expected.after },
        JSON.stringify(traits),
      )
    })
  }

  test('names the user of an admin token as actor', async () => {
    const admin = await user(app)
    const now = new Date()
    const sub = admin.id
    const token = await app.jwt.signApiToken({ role: 'service_role', sub, seconds: 60 }, now)
    const headers = { authorization: `Bearer ${token}`, 'user-agent': 'console/7' }
    const payload = { action: 'rotate' }
    await revokeStandby(app)
    const rotated = await app.inject({ method: 'POST', url: '/admin/keys', headers, payload })
    assert.equal(rotated.statusCode, 200, rotated.body)
    const { actor_id, actor_username, traits } = await newest(app)
    assert.deepEqual([actor_id, actor_username], [admin.id, admin.email])
    assert.equal(traits?.user_agent, 'console/7')
  })

  test('records a revoked key and its successor in one entry', async () => {
    await revokeStandby(app)
    const { keys } = await adminCall<Keys>(app, 'GET', '/admin/keys')
    const kid = keys.find(({ state }) => state === 'current')?.kid ?? ''
    const response = await adminCall<Keys>(app, 'POST', '/admin/keys', { action: 'revoke', kid })
    const entry = await newest(app)
    const next = response.keys.find(({ state }) => state === 'current')
    assert.deepEqual([entry.action, entry.traits?.kid], ['signing_key_revoked', kid])
    const revoked = response.keys.find((key) => key.kid === kid)
    assert.deepEqual(entry.traits?.before, { [kid]: { state: 'current', revoked_at: null } })
    assert.deepEqual(entry.traits?.after, {
      [kid]: { state: 'revoked', revoked_at: revoked?.revoked_at },
      [next?.kid ?? '']: next,
    })
  })

  test('records an imported key without its material', async () => {
    await revokeStandby(app)
    const { privateKey } = await generateKeyPair('ES256', { extractable: true })
    const jwk = { ...(await exportJWK(privateKey)), kid: 'brought' }
    await adminCall<Keys>(app, 'POST', '/admin/keys', { action: 'import', jwk })
    const entry = await newest(app)
    assert.deepEqual([entry.action, entry.traits?.kid], ['signing_key_imported', 'brought'])
    assert.ok(jwk.d && jwk.x)
    for (const material of [jwk.d, jwk.x]) assert.ok(!JSON.stringify(entry).includes(material))
  })

  test('does not record a rejected key change', async () => {
    const before = await newest(app)
    const response = await asAdmin(app, 'POST', '/admin/keys', { action: 'revoke', kid: 'unknown' })
    assert.equal(response.statusCode, 404)
    assert.deepEqual(await newest(app), before)
  })

  test('contains no password, hash, token or key, also in log lines', async () => {
    const { rows } = await sql<{ text: string }>`
      select payload::text as text from auth.audit_log_entries`.execute(app.db)
    const audited = lines.filter((line) => line.includes('audit: '))
    const all = [...rows.map(({ text }) => text), ...audited].join('\n')
    assert.ok(rows.length >= 12 && audited.length >= 12)
    for (const word of [secret, '$argon2', 'action_link', 'hashed_token', '"d":', 'private_jwk']) {
      assert.ok(!all.includes(word), word)
    }
  })
})

/** Keys of the audit log for operations that the document names "POST /path". */
function documentedWrites(): string[] {
  const file = new URL('../../../docs/openapi.json', import.meta.url)
  const { paths }: { paths: Record<string, object> } = JSON.parse(readFileSync(file, 'utf8'))
  const isAdmins = (path: string) => path === '/invite' || path.startsWith('/admin/')
  return (
    Object.entries(paths)
      .filter(([path]) => isAdmins(path))
      .flatMap(([path, methods]) => Object.keys(methods).map((name) => [name.toUpperCase(), path]))
      .filter(([method]) => ['POST', 'PUT', 'PATCH', 'DELETE'].includes(method ?? ''))
      .map((words) => words.join(' '))
      // It stores nothing.
      .filter((name) => name !== 'POST /admin/mail/preview')
      .sort()
  )
}

async function revokeStandby(app: App): Promise<void> {
  const { keys } = await adminCall<Keys>(app, 'GET', '/admin/keys')
  const waiting = keys.find(({ state }) => state === 'standby')
  if (!waiting) return
  await adminCall<Keys>(app, 'POST', '/admin/keys', { action: 'revoke', kid: waiting.kid })
}

async function newest(app: App): Promise<AuditPayload> {
  const { payload } = await app.db
    .selectFrom('audit_log_entries')
    .select('payload')
    .orderBy('created_at', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow()
  return payload
}
