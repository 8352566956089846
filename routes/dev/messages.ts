import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import type { DevInbox } from '../../plugins/dev-inbox.ts'

const Nullable = Type.Union([Type.String(), Type.Null()])

const Message = Type.Object({
  id: Type.String(),
  channel: Type.Union([Type.Literal('email'), Type.Literal('sms')]),
  to: Type.String(),
  subject: Nullable,
  text: Type.String(),
  html: Nullable,
  links: Type.Array(Type.String()),
  code: Nullable,
  sent_at: Type.String(),
})

const messages: FastifyPluginAsyncTypebox<{ devInbox: DevInbox }> = async (
  fastify,
  { devInbox },
) => {
  fastify.get(
    '/dev/messages',
    { schema: { hide: true, response: { 200: Type.Array(Message) } } },
    async () => [...devInbox.list()],
  )

  fastify.delete('/dev/messages', { schema: { hide: true } }, async (_request, reply) => {
    devInbox.clear()
    return reply.status(204).send()
  })
}

export default messages
