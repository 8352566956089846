/**
 * Requests of the full SDK for services that this server does not provide: in development the response explains where
 * they are.
 */
import type { FastifyPluginAsync } from 'fastify'

const tables =
  'Tables are served by PostgREST, a separate program. `docker compose --profile rest up` runs it next to this server; docs/row-level-security.md explains how, and how to protect a table.'
const nothing =
  'This server provides authentication only, without storage, realtime and functions (docs/coming-from-supabase.md).'

const messages: Record<string, string> = {
  '/rest/v1': tables,
  '/graphql/v1': tables,
  '/storage/v1': nothing,
  '/realtime/v1': nothing,
  '/functions/v1': nothing,
}

const otherServices: FastifyPluginAsync = async (app) => {
  for (const [prefix, message] of Object.entries(messages)) {
    for (const path of [prefix, `${prefix}/*`]) {
      app.all(path, { schema: { hide: true } }, async (_request, reply) =>
        // Clients read either `message` or `msg`.
        reply.status(404).send({ code: 404, error_code: 'not_found', msg: message, message }),
      )
    }
  }
}

export default otherServices
