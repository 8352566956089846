import { duration, flag, group } from '../fields.ts'
import { webhookEndpoints } from '../webhook-endpoints.ts'

export const webhooks = group('Events and webhooks', {
  AUTH_EVENTS_ENABLED: flag(
    'Writes down what happens to people as events, for webhooks that admins make and for `GET /admin/events`. On by itself when AUTH_WEBHOOK_ENDPOINTS names one.',
    false,
  ),
  AUTH_EVENTS_RETENTION: duration(
    'Events, and what became of them at webhooks, are kept this long.',
    {
      default: '720h',
      minimum: 3600,
    },
  ),
  AUTH_WEBHOOK_ENDPOINTS: webhookEndpoints(
    'Where events are sent, as JSON: `[{"url": "https://...", "secrets": ["v1,whsec_..."], "events": ["user.created"]}]`. Each secret signs; without `events`, all are sent.',
    { default: [] },
  ),
  AUTH_WEBHOOK_PRIVATE_ADDRESSES: flag(
    'Webhooks may lead to plain http and to private addresses. Whoever is an admin can then reach your own network through this server.',
    false,
  ),
})
