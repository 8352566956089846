import { readFile } from 'node:fs/promises'

import type { FastifyPluginAsync } from 'fastify'

const landing: FastifyPluginAsync = async (app) => {
  const page = await readFile(new URL('assets/landing.html', import.meta.url))

  app.get('/dev', { schema: { hide: true } }, async (_request, reply) =>
    reply.type('text/html; charset=utf-8').send(page),
  )
  // Redirects the bare URL to the landing page.
  app.get('/', { schema: { hide: true } }, async (_request, reply) => reply.redirect('/dev'))
}

export default landing
