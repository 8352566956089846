import { booleanField, duration, group } from '../core/fields.ts'
import { webhookEndpoints } from '../core/webhook-endpoints.ts'

export const webhooks = group('Events and webhooks', {
  AUTH_EVENTS_ENABLED: booleanField(
    'Records events about users, for webhooks created by admins and for `GET /admin/events`. AUTH_WEBHOOK_ENDPOINTS enables it too.',
    false,
  ),
  AUTH_EVENTS_RETENTION: duration('How long events and their deliveries are kept.', {
    default: '720h',
    minimum: 3600,
  }),
  AUTH_WEBHOOK_ENDPOINTS: webhookEndpoints(
    'Webhook endpoints as JSON: `[{"url": "https://...", "secrets": ["v1,whsec_..."], "events": ["user.created"]}]`. Each secret signs. Without `events`, all events are sent.',
    { default: [] },
  ),
  AUTH_WEBHOOK_PRIVATE_ADDRESSES: booleanField(
    'Webhooks may use http and private addresses. Admins can then reach your internal network through this server.',
    false,
  ),
})
