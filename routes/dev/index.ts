/** For whoever develops against this server: pages and the API reference. They exist in dev mode only. */
import type { FastifyPluginAsync } from 'fastify'

import { registerAll } from '../../plugins/register-all.ts'
import assets from './assets.ts'
import docs from './docs.ts'
import elsewhere from './elsewhere.ts'
import events from './events.ts'
import example from './example.ts'
import guide from './guide/index.ts'
import inbox from './inbox.ts'
import landing from './landing.ts'
import mailTemplates from './mail-templates.ts'
import messages from './messages.ts'
import { pageHeaders } from './page-headers.ts'
import signedIn from './signed-in.ts'

const pages: FastifyPluginAsync = async (fastify) => {
  const { devInbox } = fastify
  if (devInbox === undefined) return
  fastify.addHook('onRequest', pageHeaders)

  await registerAll(fastify, { assets, landing, signedIn, example, guide, inbox })
  await fastify.register(messages, { devInbox })
  await fastify.register(events, { devInbox })
  await registerAll(fastify, { mailTemplates })
}

const dev: FastifyPluginAsync = async (fastify) => {
  if (!fastify.config.dev) return
  // The reference is apart from the pages: its own files set the policy they need.
  await registerAll(fastify, { pages, elsewhere, docs })
}

export default dev
