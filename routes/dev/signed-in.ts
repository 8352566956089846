import { readFile } from 'node:fs/promises'

import type { FastifyPluginAsync } from 'fastify'

/** The target of links until AUTH_SITE_URL is set; assets/signed-in.js shows the session. */
const signedIn: FastifyPluginAsync = async (app) => {
  const page = await readFile(new URL('assets/signed-in.html', import.meta.url))

  app.get('/dev/signed-in', { schema: { hide: true } }, async (_request, reply) =>
    reply.type('text/html; charset=utf-8').send(page),
  )
}

export default signedIn
