/** What the server sends by itself, for the `webhooks` of the document: each type of event, and the test of an endpoint. */
import { type TSchema, Type } from '@sinclair/typebox'

import { eventKinds, eventTypes, TestBody, webhookBodyOf } from '../../schemas/events.ts'

const headers = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => ({
  name,
  in: 'header',
  required: true,
  schema: Type.String(),
}))

const responses = {
  '2XX': { description: 'The event is delivered. Any other answer, or none, and it is sent again' },
  '410': { description: 'No events any more: the webhook is paused' },
}

export function describeWebhooks(): Record<string, object> {
  const events = eventTypes.map((type) => {
    const { description } = eventKinds[type]
    return [type, described(description, webhookBodyOf(type))] as const
  })
  const test = described('An admin tests a webhook', TestBody)
  return Object.fromEntries([...events, ['webhook.test', test]])
}

function described(summary: string, schema: TSchema): object {
  const requestBody = { required: true, content: { 'application/json': { schema } } }
  return { post: { summary, tags: ['webhooks'], parameters: headers, requestBody, responses } }
}
