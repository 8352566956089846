/** An event that never happened, sent at once, so that an admin sees what an endpoint says to it. */
import type { WebhookRow } from '../../db/webhooks.ts'
import { validationFailed } from '../../errors.ts'
import type { House } from '../define-plugin.ts'
import { toMessage } from './message.ts'
import { secretsOf } from './secrets.ts'
import { send } from './send.ts'
import { requestOf } from './show.ts'

/** Also to a paused one. Throws validation_failed where this replica does not know the secret. */
export async function testEndpoint(
  house: House<'config' | 'encryption' | 'httpClient'>,
  webhook: WebhookRow,
  now: Date,
) {
  const secrets = secretsOf(house, webhook, now)
  if (secrets.length === 0) {
    throw validationFailed('This webhook is not in AUTH_WEBHOOK_ENDPOINTS of this server.', 422)
  }
  const event = {
    id: crypto.randomUUID(),
    type: 'webhook.test',
    user_id: null,
    data: { webhook_id: webhook.id },
    created_at: now,
  }
  const { answer, accepted } = await send(house, { url: webhook.url, secrets }, toMessage(event))
  return { accepted, request: requestOf(event, webhook.url), answer }
}
