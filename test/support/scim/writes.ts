/** Admin writes of SCIM connections, with the change expected in the audit log. */
import assert from 'node:assert/strict'

import type { ScimConnection } from '../../../schemas/scim/connection.ts'
import { asAdmin } from '../admin.ts'
import type { App } from '../server.ts'
import type { Write } from '../webhooks/webhook-writes.ts'
import { newOrganization } from './clients.ts'

const path = '/admin/scim/connections'

async function add(app: App): Promise<ScimConnection> {
  const organization_id = await newOrganization(app, `${crypto.randomUUID()}.test`)
  const response = await asAdmin(app, 'POST', path, { name: 'Okta', organization_id })
  assert.equal(response.statusCode, 201, response.body)
  return response.json()
}

function shown({ organization_id }: ScimConnection, name = 'Okta') {
  const more = { has_saml: false, default_role: 'member', enabled: true, role_mapping: [] }
  return { name, organization_id, ...more }
}

async function addToken(app: App, connection: ScimConnection): Promise<string> {
  const url = `${path}/${connection.id}/tokens`
  return (await asAdmin(app, 'POST', url, { name: 'first' })).json().id
}

export const scimWrites: Record<string, Write> = {
  'POST /admin/scim/connections': {
    action: 'scim_connection_created',
    async write(app) {
      return { after: shown(await add(app)) }
    },
  },
  'PUT /admin/scim/connections/{connection_id}': {
    action: 'scim_connection_updated',
    async write(app) {
      const { id } = await add(app)
      await asAdmin(app, 'PUT', `${path}/${id}`, { name: 'Entra' })
      return { before: { name: 'Okta' }, after: { name: 'Entra' } }
    },
  },
  'DELETE /admin/scim/connections/{connection_id}': {
    action: 'scim_connection_deleted',
    async write(app) {
      const connection = await add(app)
      await asAdmin(app, 'DELETE', `${path}/${connection.id}`)
      return { before: shown(connection) }
    },
  },
  'POST /admin/scim/connections/{connection_id}/tokens': {
    action: 'scim_token_issued',
    async write(app) {
      await addToken(app, await add(app))
      return { after: { name: 'first' } }
    },
  },
  'DELETE /admin/scim/connections/{connection_id}/tokens/{token_id}': {
    action: 'scim_token_revoked',
    async write(app) {
      const connection = await add(app)
      const id = await addToken(app, connection)
      await asAdmin(app, 'DELETE', `${path}/${connection.id}/tokens/${id}`)
      return {}
    },
  },
}
