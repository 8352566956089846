/** Fields with structured text: rates, maps, JSON, webhook endpoints. */
import { type SchemaOptions, type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { JWK } from 'jose'

import { isEventType } from '../../schemas/events.ts'
import { webhookSecret } from '../../schemas/webhook.ts'
import type { VariableKeywords } from './fields.ts'
import { parseJsonSetting } from './parse-values.ts'

type Options = SchemaOptions & VariableKeywords

/** `n` (per hour) or `n/duration`. */
export function rate(description: string, options: Options = {}) {
  const properties = { count: Type.Integer({ minimum: 0 }), seconds: Type.Number() }
  return Type.Object(properties, { 'x-type': 'rate', ...options, description })
}

/** `name:value,name:value`; `x-sign` names another separator. */
export function map(description: string, options: Options & { 'x-sign'?: string } = {}) {
  return Type.Record(Type.String(), Type.String(), { 'x-type': 'map', ...options, description })
}

/** Character sets separated by colons; a literal colon is written `\:`. */
export function characterSets(description: string, options: Options = {}) {
  return Type.Array(Type.String(), { 'x-type': 'character-sets', ...options, description })
}

/** Secrets of a hook, separated by `|` because each may contain a comma. */
export function hookSecrets(description: string, options: Options = {}) {
  return Type.Array(Type.String(), {
    'x-type': 'hook-secrets',
    'x-secret': true,
    ...options,
    description,
  })
}

/** Email headers as JSON: `{"name": ["value"]}`. */
export function headers(description: string, options: Options = {}) {
  const value = Type.Array(Type.String())
  return Type.Record(Type.String(), value, { 'x-type': 'headers', ...options, description })
}

/** A JSON array of JWKs. */
export function jwks(description: string, options: Options = {}) {
  const key = Type.Unsafe<JWK & { kty: string }>(Type.Object({ kty: Type.String() }))
  return Type.Array(key, { 'x-type': 'jwks', 'x-secret': true, ...options, description })
}

/** A timestamp (RFC 3339). */
export function dateField(description: string, options: Options = {}) {
  return Type.Unsafe<Date>(Type.Any({ 'x-type': 'moment', ...options, description }))
}

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

/** Webhook endpoints of the environment: JSON, because each has lists of secrets and events. */
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
