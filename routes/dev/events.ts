import { PassThrough } from 'node:stream'

import type { FastifyPluginAsync } from 'fastify'

import type { DevInbox } from '../../plugins/messaging/dev-inbox.ts'

/** Shorter than common idle timeouts of connections. */
const heartbeatMs = 20_000

/** Server-sent events: `change` after each message, or when the inbox is cleared. */
const events: FastifyPluginAsync<{ devInbox: DevInbox }> = async (app, { devInbox }) => {
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

export default events
