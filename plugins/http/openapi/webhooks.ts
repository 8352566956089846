/** The requests that the server sends, for the document's `webhooks`: each event type, and the test of an endpoint. */
import { type TSchema, Type } from '@sinclair/typebox'

import { eventKinds, eventTypes, TestBody, webhookBodySchema } from '../../../schemas/events.ts'

const headers = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => ({
  name,
  in: 'header',
  required: true,
  schema: Type.String(),
}))

const responses = {
  '2XX': {
    description: 'The event is delivered. After any other response, or none, it is sent again',
  },
  '410': { description: 'The endpoint accepts no more events: the webhook is paused' },
}

export function describeWebhooks(): Record<string, object> {
  const events = eventTypes.map((type) => {
    const { description } = eventKinds[type]
    return [type, described(description, webhookBodySchema(type))] as const
  })
  const test = described('An admin tests a webhook', TestBody)
  return Object.fromEntries([...events, ['webhook.test', test]])
}

function described(summary: string, schema: TSchema): object {
  const requestBody = { required: true, content: { 'application/json': { schema } } }
  const security: object[] = []
  const operation = { summary, tags: ['webhooks'], security, parameters: headers }
  return { post: { ...operation, requestBody, responses } }
}
