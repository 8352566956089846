/** Pages and API reference for developers, in dev mode only. */
import type { FastifyPluginAsync } from 'fastify'

import { registerRoutes } from '../../plugins/register-routes.ts'
import assets from './assets.ts'
import docs from './docs.ts'
import events from './events.ts'
import example from './example.ts'
import guide from './guide.ts'
import inbox from './inbox.ts'
import landing from './landing.ts'
import mailTemplates from './mail-templates.ts'
import messages from './messages.ts'
import otherServices from './other-services.ts'
import { setDevPageHeaders } from './page-headers.ts'
import signedIn from './signed-in.ts'

const pages: FastifyPluginAsync = async (fastify) => {
  const { devInbox } = fastify
  if (devInbox === undefined) return
  fastify.addHook('onRequest', setDevPageHeaders)

  await registerRoutes(fastify, { assets, landing, signedIn, example, guide, inbox })
  await fastify.register(messages, { devInbox })
  await fastify.register(events, { devInbox })
  await registerRoutes(fastify, { mailTemplates })
}

const dev: FastifyPluginAsync = async (fastify) => {
  if (!fastify.config.dev) return
  // The reference is registered apart: its files set their own policy.
  await registerRoutes(fastify, { pages, otherServices, docs })
}

export default dev
