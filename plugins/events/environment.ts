/** Endpoints of AUTH_WEBHOOK_ENDPOINTS: rows like the others, kept as the environment says. */
import { createHash } from 'node:crypto'

import {
  deleteOtherEnvironmentWebhooks,
  lockEnvironmentWebhooks,
  putEnvironmentWebhook,
} from '../../db/webhooks.ts'
import type { House } from '../define-plugin.ts'

/** One address is one endpoint, in every replica and after every start (a UUID of version 8, RFC 9562). */
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

/** At the start of a server: what the environment does not name any more is removed, with what waited for it. */
export async function syncEnvironment(
  { config, db }: House<'config' | 'db'>,
  now: Date,
): Promise<void> {
  const webhooks = config.AUTH_WEBHOOK_ENDPOINTS.map(({ url, description = '', events = [] }) => ({
    id: environmentId(url),
    url,
    description,
    events,
  }))
  // In one order, as replicas of different settings may start at once.
  webhooks.sort((a, b) => (a.id < b.id ? -1 : 1))
  await db.transaction().execute(async (trx) => {
    await lockEnvironmentWebhooks(trx)
    for (const webhook of webhooks) await putEnvironmentWebhook(trx, webhook, now)
    await deleteOtherEnvironmentWebhooks(
      trx,
      webhooks.map(({ id }) => id),
    )
  })
}
