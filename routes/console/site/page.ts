import fastifyStatic from '@fastify/static'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'

import { openFiles } from './files.ts'
import { colorSchemes, consoleHeaders, consolePage } from './html.ts'

const page: FastifyPluginAsync = async (fastify) => {
  const { config } = fastify
  const base = new URL(config.AUTH_API_EXTERNAL_URL).pathname.replace(/\/$/, '')
  const files = await openFiles(fastify)
  fastify.addHook('onClose', files.close)

  await fastify.register(fastifyStatic, {
    root: files.folder,
    prefix: '/console/assets/',
    decorateReply: false,
    index: false,
    preCompressed: true,
    // File names contain a content hash.
    immutable: true,
    maxAge: '1y',
    schemaHide: true,
  })

  for (const path of ['/console', '/console/*']) {
    fastify.get(path, { schema: { hide: true } }, async (request, reply) => show(request, reply))
  }

  async function show(request: FastifyRequest, reply: FastifyReply) {
    const theme = colorSchemes.find((each) =>
      request.headers.cookie?.includes(`${themeCookie}=${each}`),
    )
    const html = consolePage(await files.bundle(), { base, theme })
    return reply.headers(consoleHeaders).type('text/html; charset=utf-8').send(html)
  }
}

/** Set by the page itself (console/core/theme.ts). */
const themeCookie = 'postern-console-theme'

export default page
