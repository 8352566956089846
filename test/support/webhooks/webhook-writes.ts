/** Admin writes of webhooks, with the change expected in the audit log. */
import type { Webhook } from '../../../schemas/webhook.ts'
import { adminCall, asAdmin } from '../admin.ts'
import type { App } from '../server.ts'

/** The audit traits: `after` of a new webhook has no `before`. */
interface Change {
  before?: unknown
  after?: unknown
}

export interface Write {
  action: string
  /** Prepares and writes; returns the change expected in the audit log. */
  write(app: App): Promise<Change>
}

const path = '/admin/webhooks'
const setting = { url: 'https://hooks.example/', description: '', events: [], state: 'active' }

export const webhookWrites: Record<string, Write> = {
  [`POST ${path}`]: {
    action: 'webhook_created',
    async write(app) {
      await newWebhook(app)
      return { after: setting }
    },
  },
  [`PUT ${path}/{webhook_id}`]: {
    action: 'webhook_updated',
    async write(app) {
      const { id } = await newWebhook(app)
      await adminCall(app, 'PUT', `${path}/${id}`, { state: 'paused', events: ['user.created'] })
      const before = { events: [], state: 'active' }
      return { before, after: { events: ['user.created'], state: 'paused' } }
    },
  },
  [`DELETE ${path}/{webhook_id}`]: {
    action: 'webhook_deleted',
    async write(app) {
      const { id } = await newWebhook(app)
      await asAdmin(app, 'DELETE', `${path}/${id}`)
      return { before: setting }
    },
  },
  ...without('rotate_secret', 'webhook_secret_rotated'),
  ...without('test', 'webhook_tested'),
  ...without('replay', 'webhook_replayed', { dead: true }),
}

/** A write that changes no shown field. */
function without(name: string, action: string, body = {}): Record<string, Write> {
  const write = async (app: App) => {
    const { id } = await newWebhook(app)
    await adminCall(app, 'POST', `${path}/${id}/${name}`, body)
    return {}
  }
  return { [`POST ${path}/{webhook_id}/${name}`]: { action, write } }
}

/** Of a host that does not exist. */
function newWebhook(app: App): Promise<Webhook & { secret: string }> {
  return adminCall(app, 'POST', path, { url: setting.url })
}
