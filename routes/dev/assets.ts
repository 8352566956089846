import { readFile } from 'node:fs/promises'

import type { FastifyPluginAsync } from 'fastify'

const types = {
  'dev.css': 'text/css; charset=utf-8',
  'inbox.js': 'text/javascript; charset=utf-8',
  'mail-templates.js': 'text/javascript; charset=utf-8',
  'signed-in.js': 'text/javascript; charset=utf-8',
}

const assets: FastifyPluginAsync = async (app) => {
  for (const [name, type] of Object.entries(types)) {
    const content = await readFile(new URL(`assets/${name}`, import.meta.url))
    app.get(`/dev/${name}`, { schema: { hide: true } }, async (_request, reply) =>
      reply.type(type).send(content),
    )
  }
}

export default assets
