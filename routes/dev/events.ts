import { PassThrough } from 'node:stream'

import type { FastifyPluginAsync } from 'fastify'

import type { DevInbox } from '../../plugins/dev-inbox.ts'

/** Shorter than any time after which a silent connection is closed. */
const heartbeatMs = 20_000

/** Server-sent events: `change` whenever a message came or the inbox was emptied. */
const events: FastifyPluginAsync<{ devInbox: DevInbox }> = async (fastify, { devInbox }) => {
  const open = new Set<PassThrough>()

  fastify.get('/dev/events', { schema: { hide: true } }, async (_request, reply) => {
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

  // A page that listens must not keep the server from stopping.
  fastify.addHook('preClose', async () => {
    for (const stream of open) stream.end()
  })
}

export default events
