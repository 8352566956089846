import { readFile } from 'node:fs/promises'

import type { FastifyPluginAsync } from 'fastify'

/** Where links lead while nobody has set AUTH_SITE_URL; assets/signed-in.js shows who came. */
const signedIn: FastifyPluginAsync = async (fastify) => {
  const page = await readFile(new URL('assets/signed-in.html', import.meta.url))

  fastify.get('/dev/signed-in', { schema: { hide: true } }, async (_request, reply) =>
    reply.type('text/html; charset=utf-8').send(page),
  )
}

export default signedIn
