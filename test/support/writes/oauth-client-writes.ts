/** Admin writes of OAuth clients, with the change expected in the audit log. */
import { adminCall, asAdmin } from '../admin.ts'
import { createClient } from '../oauth-server.ts'
import type { Write } from '../webhooks/webhook-writes.ts'

const clients = '/admin/oauth/clients'

export const oauthClientWrites: Record<string, Write> = {
  'POST /admin/oauth/clients': {
    action: 'oauth_client_created',
    write: async (app) => ({ after: shownClient(await createClient(app)) }),
  },
  'PUT /admin/oauth/clients/{client_id}': {
    action: 'oauth_client_updated',
    async write(app) {
      const { client_id } = await createClient(app)
      await adminCall(app, 'PUT', `${clients}/${client_id}`, { client_name: 'Other' })
      return { before: { client_name: 'App' }, after: { client_name: 'Other' } }
    },
  },
  'POST /admin/oauth/clients/{client_id}/regenerate_secret': {
    action: 'oauth_client_secret_regenerated',
    async write(app) {
      const { client_id } = await createClient(app)
      await adminCall(app, 'POST', `${clients}/${client_id}/regenerate_secret`)
      return {}
    },
  },
  'DELETE /admin/oauth/clients/{client_id}': {
    action: 'oauth_client_deleted',
    async write(app) {
      const client = await createClient(app)
      await asAdmin(app, 'DELETE', `${clients}/${client.client_id}`)
      return { before: shownClient(client) }
    },
  },
}

/** The secret is in no entry. */
function shownClient(client: Awaited<ReturnType<typeof createClient>>) {
  const { client_secret, created_at, updated_at, ...shown } = client
  return shown
}
