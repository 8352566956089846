/** The inbox of the messages that were sent, and its events. */
import { readFile } from 'node:fs/promises'
import { PassThrough } from 'node:stream'

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyPluginAsync } from 'fastify'

import type { DevInbox } from '../../plugins/messaging/dev-inbox.ts'
import { nullable, StringEnum } from '../../schemas/values/choices.ts'

/** The page; assets/inbox.js fills it from /dev/messages and /dev/events. */
export const inbox: FastifyPluginAsync = async (app) => {
  const page = await readFile(new URL('assets/inbox.html', import.meta.url))

  app.get('/dev/inbox', { schema: { hide: true } }, async (_request, reply) =>
    reply.type('text/html; charset=utf-8').send(page),
  )
}

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

export const messages: FastifyPluginAsyncTypebox<{ devInbox: DevInbox }> = async (
  app,
  { devInbox },
) => {
  app.get('/dev/messages', { schema: { hide: true, response: { 200: Messages } } }, async () => [
    ...devInbox.list(),
  ])

  app.delete('/dev/messages', { schema: { hide: true } }, async (_request, reply) => {
    devInbox.clear()
    return reply.status(204).send()
  })
}

/** Shorter than common idle timeouts of connections. */
const heartbeatMs = 20_000

/** Server-sent events: `change` after each message, or when the inbox is cleared. */
export const events: FastifyPluginAsync<{ devInbox: DevInbox }> = async (app, { devInbox }) => {
  const open = new Set<PassThrough>()

  app.get('/dev/events', { schema: { hide: true } }, async (_request, reply) => {
    const stream = new PassThrough()
    const unsubscribe = devInbox.subscribe(() => stream.write('event: change\ndata:\n\n'))
    const heartbeat = setInterval(() => stream.write(':\n\n'), heartbeatMs)
    open.add(stream)
    stream.on('close', () => {
      unsubscribe()
      clearInterval(heartbeat)
      open.delete(stream)
    })
    stream.write('retry: 1000\n\n')
    return reply.type('text/event-stream').send(stream)
  })

  // An open page must not delay the shutdown.
  app.addHook('preClose', async () => {
    for (const stream of open) stream.end()
  })
}
