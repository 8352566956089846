import { readFile } from 'node:fs/promises'

import type { FastifyPluginAsync } from 'fastify'

/** The page; assets/inbox.js fills it from /dev/messages and /dev/events. */
const inbox: FastifyPluginAsync = async (app) => {
  const page = await readFile(new URL('assets/inbox.html', import.meta.url))

  app.get('/dev/inbox', { schema: { hide: true } }, async (_request, reply) =>
    reply.type('text/html; charset=utf-8').send(page),
  )
}

export default inbox
