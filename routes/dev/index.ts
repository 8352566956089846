/** Pages and API reference for developers, in dev mode only. */
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'

import { registerRoutes } from '../../plugins/register-routes.ts'
import { docs, guide } from './docs.ts'
import { events, inbox, messages } from './inbox.ts'
import mailTemplates from './mail-templates.ts'
import { pageRoutes } from './pages.ts'

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

  await registerRoutes(app, { ...pageRoutes, guide, inbox })
  await app.register(messages, { devInbox })
  await app.register(events, { devInbox })
  await registerRoutes(app, { mailTemplates })
}

const tables =
  'Tables are served by PostgREST, a separate program. `docker compose --profile rest up` runs it next to this server; docs/row-level-security.md explains how, and how to protect a table.'
const nothing =
  'This server provides authentication only, without storage, realtime and functions (docs/coming-from-supabase.md).'

const explanations: Record<string, string> = {
  '/rest/v1': tables,
  '/graphql/v1': tables,
  '/storage/v1': nothing,
  '/realtime/v1': nothing,
  '/functions/v1': nothing,
}

/**
 * Requests of the full SDK for services that this server does not provide: in development the response explains where
 * they are.
 */
const otherServices: FastifyPluginAsync = async (app) => {
  for (const [prefix, message] of Object.entries(explanations)) {
    for (const path of [prefix, `${prefix}/*`]) {
      app.all(path, { schema: { hide: true } }, async (_request, reply) =>
        // Clients read either `message` or `msg`.
        reply.status(404).send({ code: 404, error_code: 'not_found', msg: message, message }),
      )
    }
  }
}

const dev: FastifyPluginAsync = async (app) => {
  if (!app.config.dev) return
  // The reference is registered apart: its files set their own policy.
  await registerRoutes(app, { pages, otherServices, docs })
}

export default dev
