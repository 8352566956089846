/** Webhook endpoints of the environment: JSON, because each has lists of secrets and events. */
import { type SchemaOptions, type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { isEventType } from '../../schemas/events.ts'
import { webhookSecret } from '../../schemas/webhook.ts'
import type { VariableKeywords } from './fields.ts'
import { parseJsonSetting } from './parse-values.ts'

const Endpoint = Type.Object(
  {
    url: Type.String({ maxLength: 2048 }),
    secrets: Type.Array(Type.String({ pattern: webhookSecret.source }), { minItems: 1 }),
    events: Type.Optional(Type.Array(Type.String())),
    description: Type.Optional(Type.String({ maxLength: 255 })),
  },
  { additionalProperties: false },
)
const Endpoints = Type.Array(Endpoint)

type WebhookEndpoint = Static<typeof Endpoint>

export function webhookEndpoints(
  description: string,
  options: SchemaOptions & VariableKeywords & { default: WebhookEndpoint[] },
) {
  return Type.Unsafe<WebhookEndpoint[]>({
    ...Type.Array(Type.Any()),
    'x-type': 'webhooks',
    'x-secret': true,
    ...options,
    description,
  })
}

/** Undefined for invalid text. Each URL is one endpoint. */
export function parseWebhookEndpoints(text: string): WebhookEndpoint[] | undefined {
  const parsed = parseJsonSetting(text)
  if (!Value.Check(Endpoints, parsed)) return undefined
  const urls = parsed.map(({ url }) => url)
  const isRight =
    new Set(urls).size === urls.length &&
    urls.every((url) => /^https?:$/.test(URL.parse(url)?.protocol ?? '')) &&
    parsed.every(({ events = [] }) => events.every(isEventType))
  return isRight ? parsed : undefined
}
