import { readFile } from 'node:fs/promises'

import type { FastifyPluginAsync } from 'fastify'

const landing: FastifyPluginAsync = async (fastify) => {
  const page = await readFile(new URL('assets/landing.html', import.meta.url))

  fastify.get('/dev', { schema: { hide: true } }, async (_request, reply) =>
    reply.type('text/html; charset=utf-8').send(page),
  )
  // Whoever opens the bare address in a browser finds the way.
  fastify.get('/', { schema: { hide: true } }, async (_request, reply) => reply.redirect('/dev'))
}

export default landing
