import { readFile } from 'node:fs/promises'

import type { FastifyPluginAsync } from 'fastify'

const landing: FastifyPluginAsync = async (fastify) => {
  const page = await readFile(new URL('assets/landing.html', import.meta.url))

  fastify.get('/dev', { schema: { hide: true } }, async (_request, reply) =>
    reply.type('text/html; charset=utf-8').send(page),
  )
  // Redirects the bare URL to the landing page.
  fastify.get('/', { schema: { hide: true } }, async (_request, reply) => reply.redirect('/dev'))
}

export default landing
