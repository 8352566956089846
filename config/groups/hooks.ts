import { Type } from '@sinclair/typebox'

import { booleanField, duration, forEach, group, textField } from '../core/fields.ts'
import { hookSecrets, webhookEndpoints } from '../core/values.ts'

const { Optional } = Type

/** The hooks, each an HTTP endpoint or database function of the operator. */
export const hookNames = [
  'CUSTOM_ACCESS_TOKEN',
  'SEND_EMAIL',
  'SEND_SMS',
  'MFA_VERIFICATION_ATTEMPT',
  'PASSWORD_VERIFICATION_ATTEMPT',
  'BEFORE_USER_CREATED',
  'AFTER_USER_CREATED',
  'BEFORE_ORGANIZATION_JOIN',
] as const

const words = (name: string) => name.toLowerCase().replaceAll('_', ' ')

export const hooks = group('Hooks', {
  ...forEach(
    hookNames,
    (name) => `AUTH_HOOK_${name}_ENABLED` as const,
    (name) => booleanField(`Enables the ${words(name)} hook.`, false),
  ),
  ...forEach(
    hookNames,
    (name) => `AUTH_HOOK_${name}_URI` as const,
    (name) =>
      Optional(
        textField(
          `Address of the ${words(name)} hook: https, or \`pg-functions://postgres/<schema>/<function>\`.`,
          { 'x-type': 'hook-uri' },
        ),
      ),
  ),
  ...forEach(
    hookNames,
    (name) => `AUTH_HOOK_${name}_SECRETS` as const,
    (name) =>
      hookSecrets(
        `Secrets that sign the requests of the ${words(name)} hook, as \`v1,whsec_...\`, separated by \`|\`. Without a secret the requests are not signed, and the start warns.`,
        { default: [] },
      ),
  ),
})

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
