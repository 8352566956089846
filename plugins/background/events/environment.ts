/** Endpoints of AUTH_WEBHOOK_ENDPOINTS, stored as rows like the others and synchronized with the environment. */
import { createHash } from 'node:crypto'

import {
  deleteOtherEnvironmentWebhooks,
  lockEnvironmentWebhooks,
  upsertConfiguredWebhook,
} from '../../../db/events/webhooks.ts'
import type { Deps } from '../../define-plugin.ts'

/** One URL is one endpoint, on every replica and after every restart (a version 8 UUID, RFC 9562). */
export function environmentId(url: string): string {
  const hash = createHash('sha256').update(`postern webhook ${url}`).digest('hex')
  const [a, b, c, d, e] = [
    hash.slice(0, 8),
    hash.slice(8, 12),
    hash.slice(13, 16),
    hash.slice(17, 20),
    hash.slice(20, 32),
  ]
  return `${a}-${b}-8${c}-8${d}-${e}`
}

/** At server start: removes endpoints that the environment no longer names, with their pending deliveries. */
export async function syncEnvironment(
  { config, db }: Deps<'config' | 'db'>,
  now: Date,
): Promise<void> {
  const webhooks = config.AUTH_WEBHOOK_ENDPOINTS.map(({ url, description = '', events = [] }) => ({
    id: environmentId(url),
    url,
    description,
    events,
  }))
  // Sorted, so that replicas with different settings that start concurrently lock rows in the same order.
  webhooks.sort((a, b) => (a.id < b.id ? -1 : 1))
  await db.transaction().execute(async (trx) => {
    await lockEnvironmentWebhooks(trx)
    for (const webhook of webhooks) await upsertConfiguredWebhook(trx, webhook, now)
    await deleteOtherEnvironmentWebhooks(
      trx,
      webhooks.map(({ id }) => id),
    )
  })
}
