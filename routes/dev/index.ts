/** Pages and API reference for developers, in dev mode only. */
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'

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
import signedIn from './signed-in.ts'

/**
 * Emails are shown in frames that inherit this policy, so that inline styles and images are allowed. Scripts come from
 * our files only.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  'img-src data: https: http:',
  "connect-src 'self'",
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

async function setDevPageHeaders(_request: FastifyRequest, reply: FastifyReply) {
  reply.header('content-security-policy', policy)
  reply.header('referrer-policy', 'no-referrer')
}

const pages: FastifyPluginAsync = async (app) => {
  const { devInbox } = app
  if (devInbox === undefined) return
  app.addHook('onRequest', setDevPageHeaders)

  await registerRoutes(app, { assets, landing, signedIn, example, guide, inbox })
  await app.register(messages, { devInbox })
  await app.register(events, { devInbox })
  await registerRoutes(app, { mailTemplates })
}

const dev: FastifyPluginAsync = async (app) => {
  if (!app.config.dev) return
  // The reference is registered apart: its files set their own policy.
  await registerRoutes(app, { pages, otherServices, docs })
}

export default dev
