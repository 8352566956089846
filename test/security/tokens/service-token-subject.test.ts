/** Services sign their own tokens with any `sub`. Admin writes must not fail when it is not a UUID. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { SignJWT } from 'jose'

import { sharedServers } from '../../support/processes/shared-servers.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'
type Write = [what: string, method: Method, path: string, payload?: object]

const unknown = '11111111-1111-4111-8111-111111111111'
const address = () => `${crypto.randomUUID()}@example.com`

/** In this order, each on an existing user. */
const writes = (id: string): Write[] => [
  ['create', 'POST', '/admin/users', { email: address() }],
  ['create with an id', 'POST', `/admin/users/${crypto.randomUUID()}`, { email: address() }],
  ['change', 'PUT', `/admin/users/${id}`, { user_metadata: { a: 1 } }],
  ['ban', 'PUT', `/admin/users/${id}`, { ban_duration: '1h' }],
  ['lift the ban', 'PUT', `/admin/users/${id}`, { ban_duration: 'none' }],
  ['impersonate', 'POST', `/admin/users/${id}/impersonate`, {}],
  ['invite', 'POST', '/invite', { email: address() }],
  ['generate a link', 'POST', '/admin/generate_link', { type: 'invite', email: address() }],
  ['revoke all sessions', 'DELETE', `/admin/users/${id}/sessions`],
  ['soft-delete', 'DELETE', `/admin/users/${id}`, { should_soft_delete: true }],
  ['delete', 'DELETE', `/admin/users/${id}`],
]

const subjects: Record<string, string> = {
  'a name': 'billing-service',
  empty: '',
  'an unknown UUID': unknown,
  'a truncated UUID': unknown.slice(0, -1),
  'a UUID with a suffix': `${unknown}x`,
  'an email': 'ops@example.com',
  SQL: "' or 1=1 --",
  long: 's'.repeat(3000),
}

suite('service token', () => {
  const server = sharedServers()
  for (const [what, sub] of Object.entries(subjects)) {
    test(`whose sub is ${what} is accepted for admin writes`, async (t) => {
      const { app, config } = await server({ AUTH_ADMIN_IMPERSONATION_ENABLED: 'true' })
      const key = new TextEncoder().encode(config.AUTH_JWT_SECRET)
      const jwt = new SignJWT({ role: 'service_role', sub }).setProtectedHeader({ alg: 'HS256' })
      const headers = { authorization: `Bearer ${await jwt.setExpirationTime('1h').sign(key)}` }
      const made = await app.inject({
        method: 'POST',
        url: '/admin/users',
        headers,
        payload: { email: address(), email_confirm: true },
      })
      const id = made.statusCode === 200 ? made.json().id : unknown
      for (const [title, method, url, payload] of writes(id)) {
        await t.test(title, async () => {
          const response = await app.inject({ method, url, headers, ...(payload && { payload }) })
          assert.ok(response.statusCode < 300, `${response.statusCode} ${response.body}`)
        })
      }
      await t.test('appears by role in the audit log', async () => {
        const response = await app.inject({ url: `/admin/audit?target=${id}`, headers })
        assert.equal(response.statusCode, 200, response.body)
        const { payload } = await app.db
          .selectFrom('audit_log_entries')
          .select('payload')
          .orderBy('created_at', 'desc')
          .limit(1)
          .executeTakeFirstOrThrow()
        assert.equal(payload.actor_username, 'service_role')
      })
    })
  }
})
