/** For whoever develops against this server: pages and the API reference. They exist in dev mode only. */
import type { FastifyPluginAsync } from 'fastify'

import assets from './assets.ts'
import docs from './docs.ts'
import events from './events.ts'
import inbox from './inbox.ts'
import landing from './landing.ts'
import mailTemplates from './mail-templates.ts'
import messages from './messages.ts'
import { onlyFromHere, pageHeaders } from './page-headers.ts'

const pages: FastifyPluginAsync = async (fastify) => {
  const { devInbox } = fastify
  if (devInbox === undefined) return
  fastify.addHook('onRequest', onlyFromHere)
  fastify.addHook('onRequest', pageHeaders)

  await fastify.register(assets)
  await fastify.register(landing)
  await fastify.register(inbox)
  await fastify.register(messages, { devInbox })
  await fastify.register(events, { devInbox })
  await fastify.register(mailTemplates)
}

const dev: FastifyPluginAsync = async (fastify) => {
  if (!fastify.config.dev) return
  await fastify.register(pages)
  // Apart from the pages: its own files set the policy they need.
  await fastify.register(docs)
}

export default dev
