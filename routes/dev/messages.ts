import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import type { DevInbox } from '../../plugins/messaging/dev-inbox.ts'
import { nullable, StringEnum } from '../../schemas/values/choices.ts'

const OptionalText = nullable(Type.String())

const Message = Type.Object({
  id: Type.String(),
  channel: StringEnum(['email', 'sms']),
  to: Type.String(),
  subject: OptionalText,
  text: Type.String(),
  html: OptionalText,
  links: Type.Array(Type.String()),
  code: OptionalText,
  problems: Type.Array(Type.String()),
  sent_at: Type.String(),
})

const Messages = Type.Array(Message)

const messages: FastifyPluginAsyncTypebox<{ devInbox: DevInbox }> = async (app, { devInbox }) => {
  app.get('/dev/messages', { schema: { hide: true, response: { 200: Messages } } }, async () => [
    ...devInbox.list(),
  ])

  app.delete('/dev/messages', { schema: { hide: true } }, async (_request, reply) => {
    devInbox.clear()
    return reply.status(204).send()
  })
}

export default messages
