/** SCIM requests whose access ends before the body has arrived. */
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { suite, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'

import { asAdmin } from '../../support/admin.ts'
import {
  deactivate,
  groupSchema,
  patchSchema,
  type ScimClient,
  sharedScimServer,
} from '../../support/scim/clients.ts'
import type { App } from '../../support/server.ts'

interface Tenant {
  app: App
  client: ScimClient
  organization: string
}

const connectionUrl = ({ client }: Tenant) => `/admin/scim/connections/${client.connection.id}`

const endings: Record<string, [status: number, end: (tenant: Tenant) => Promise<unknown>]> = {
  'its token was revoked': [
    401,
    async (tenant) => {
      const url = `${connectionUrl(tenant)}/tokens`
      const { tokens } = (await asAdmin(tenant.app, 'GET', url)).json()
      await asAdmin(tenant.app, 'DELETE', `${url}/${tokens[0].id}`)
    },
  ],
  'its connection was disabled': [
    403,
    (tenant) => asAdmin(tenant.app, 'PUT', connectionUrl(tenant), { enabled: false }),
  ],
  'its connection was deleted': [
    401,
    (tenant) => asAdmin(tenant.app, 'DELETE', connectionUrl(tenant)),
  ],
  'its organization was deleted': [
    403,
    ({ app, organization }) => asAdmin(app, 'DELETE', `/admin/organizations/${organization}`),
  ],
}

type Target = Record<'user' | 'group', string>

const writes: Record<string, (target: Target) => ['POST' | 'PUT' | 'PATCH', string, object]> = {
  'creates a user': () => ['POST', '/Users', { userName: 'new' }],
  'replaces a user': ({ user }) => ['PUT', `/Users/${user}`, { userName: 'other' }],
  'changes a user': ({ user }) => [
    'PATCH',
    `/Users/${user}`,
    { schemas: [patchSchema], Operations: [deactivate] },
  ],
  'creates a group': () => ['POST', '/Groups', { schemas: [groupSchema], displayName: 'new' }],
  'changes a group': ({ group }) => ['PUT', `/Groups/${group}`, { displayName: 'other' }],
}

suite('a SCIM request', () => {
  const newTenant = sharedScimServer()

  for (const [what, write] of Object.entries(writes)) {
    for (const [when, [status, end]] of Object.entries(endings)) {
      test(`that ${what} is rejected when ${when} before the body arrived`, async () => {
        const tenant = await newTenant()
        const { client } = tenant
        const { id: user } = await client.create({ userName: 'ann' })
        const { id: group } = await client.createGroup('staff')
        const before = await stored(tenant)
        const response = await sendSlowly(tenant, write({ user, group }), () => end(tenant))
        assert.equal(response.statusCode, status, response.body)
        if (when !== 'its connection was deleted') assert.deepEqual(await stored(tenant), before)
      })
    }
  }
})

suite('a SCIM connection', () => {
  const newTenant = sharedScimServer()

  test('is deleted while its client sends changes, of which each is made or rejected', async () => {
    const { app, client } = await newTenant()
    const names = ['ann', 'ben', 'cem', 'dan']
    const users = await Promise.all(names.map((userName) => client.create({ userName })))
    const members = users.map(({ id }) => ({ value: id }))
    const groups = await Promise.all(names.map((name) => client.createGroup(name)))
    const changes = Array.from({ length: 10 }, () =>
      groups.map(({ id }, at) =>
        client.patch(`/Groups/${id}`, {
          op: at % 2 === 0 ? 'add' : 'remove',
          path: 'members',
          value: members,
        }),
      ),
    )
    const removal = asAdmin(app, 'DELETE', `/admin/scim/connections/${client.connection.id}`)
    const responses = await Promise.all(changes.flat())
    assert.equal((await removal).statusCode, 204)
    const others = responses.filter(({ statusCode }) => ![200, 401].includes(statusCode))
    assert.deepEqual(
      others.map(({ body }) => body),
      [],
    )
    assert.equal((await client.send('GET', '/Users')).statusCode, 401)
  })
})

async function stored({ app: { pool } }: Tenant) {
  const users = await pool.query('select resource from auth.scim_users order by id')
  const groups = await pool.query('select resource from auth.postern_scim_groups order by id')
  return [users.rows, groups.rows]
}

/** Calls `end` after the token was accepted, and sends the body afterwards. */
async function sendSlowly(
  { app, client }: Tenant,
  [method, path, body]: readonly ['POST' | 'PUT' | 'PATCH', string, object],
  end: () => Promise<unknown>,
) {
  const text = JSON.stringify(body)
  await app.pool.query('update auth.scim_tokens set last_used_at = null')
  async function* slowly() {
    yield text.slice(0, 1)
    while (!(await isAccepted(app))) await pause(10)
    await end()
    yield text.slice(1)
  }
  return app.inject({
    method,
    url: `/scim/v2/${client.connection.id}${path}`,
    headers: {
      authorization: `Bearer ${client.token}`,
      'content-type': 'application/scim+json',
      'content-length': String(text.length),
    },
    payload: Readable.from(slowly()),
  })
}

async function isAccepted(app: App): Promise<boolean> {
  const { rows } = await app.pool.query('select from auth.scim_tokens where last_used_at is null')
  return rows.length === 0
}
