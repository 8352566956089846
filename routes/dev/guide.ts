/** The documentation as built by `npm run docs:build`, which `npm run dev` runs when it starts (dev/docs/build.ts). */
import { join } from 'node:path'

import type { FastifyPluginAsync } from 'fastify'

const root = join(import.meta.dirname, '../../docs/dist')

const guide: FastifyPluginAsync = async (app) => {
  const { default: fastifyStatic } = await import('@fastify/static')
  // A page is the index of its folder, found with and without a slash at the end.
  await app.register(fastifyStatic, { root, prefix: '/docs/guide/', redirect: false })
  app.get('/docs/guide', { schema: { hide: true } }, (_request, reply) =>
    reply.sendFile('index.html'),
  )
}

export default guide
