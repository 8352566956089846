/** What the server sends by itself, for the `webhooks` of the document: one entry for each type of event. */
import { Type } from '@sinclair/typebox'

import { eventKinds, eventTypes, webhookBodyOf } from '../../schemas/events.ts'

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
  return Object.fromEntries(
    eventTypes.map((type) => {
      const { description } = eventKinds[type]
      const content = { 'application/json': { schema: webhookBodyOf(type) } }
      const requestBody = { required: true, content }
      const post = {
        summary: description,
        tags: ['webhooks'],
        parameters: headers,
        requestBody,
        responses,
      }
      return [type, { post }]
    }),
  )
}
