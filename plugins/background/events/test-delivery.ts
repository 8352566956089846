/** Sends a test event immediately, so that an admin sees the endpoint's response. */
import type { WebhookRow } from '../../../db/events/webhooks.ts'
import { validationFailed } from '../../../schemas/errors.ts'
import type { Deps } from '../../define-plugin.ts'
import { toMessage } from './message.ts'
import { toStoredRequest } from './responses.ts'
import { listWebhookSecrets } from './secrets.ts'
import { sendEvent } from './send.ts'

/** Also for a paused endpoint. Throws validation_failed when this replica does not have its secret. */
export async function testEndpoint(
  deps: Deps<'config' | 'encryption' | 'httpClient'>,
  webhook: WebhookRow,
  now: Date,
) {
  const secrets = listWebhookSecrets(deps, webhook, now)
  if (secrets.length === 0) {
    throw validationFailed('This webhook is not in AUTH_WEBHOOK_ENDPOINTS of this server', 422)
  }
  const event = {
    id: crypto.randomUUID(),
    type: 'webhook.test',
    user_id: null,
    data: { webhook_id: webhook.id },
    created_at: now,
  }
  const { answer, accepted } = await sendEvent(
    deps,
    { url: webhook.url, secrets },
    toMessage(event),
  )
  return { accepted, request: toStoredRequest(event, webhook.url), answer }
}
