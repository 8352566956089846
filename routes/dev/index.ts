/** Pages for whoever develops against this server. They exist in dev mode only. */
import type { FastifyPluginAsync } from 'fastify'

import assets from './assets.ts'
import events from './events.ts'
import inbox from './inbox.ts'
import landing from './landing.ts'
import mailTemplates from './mail-templates.ts'
import messages from './messages.ts'
import { onlyFromHere, pageHeaders } from './page-headers.ts'

const dev: FastifyPluginAsync = async (fastify) => {
  const { config, devInbox } = fastify
  if (!config.dev || devInbox === undefined) return
  fastify.addHook('onRequest', onlyFromHere)
  fastify.addHook('onRequest', pageHeaders)
  await fastify.register(assets)
  await fastify.register(landing)
  await fastify.register(inbox)
  await fastify.register(messages, { devInbox })
  await fastify.register(events, { devInbox })
  await fastify.register(mailTemplates)
}

export default dev
