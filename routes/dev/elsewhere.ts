/** What the full SDK asks of other servers: in development it is told where they are. */
import type { FastifyPluginAsync } from 'fastify'

const tables =
  'Tables are served by PostgREST, a program of its own. `docker compose --profile rest up` runs it beside this server; docs/row-level-security.md says how, and how to protect a table.'
const nothing =
  'This server is for accounts and sessions; storage, realtime and functions are not part of it (docs/coming-from-supabase.md).'

const answers: Record<string, string> = {
  '/rest/v1': tables,
  '/graphql/v1': tables,
  '/storage/v1': nothing,
  '/realtime/v1': nothing,
  '/functions/v1': nothing,
}

const elsewhere: FastifyPluginAsync = async (fastify) => {
  for (const [prefix, message] of Object.entries(answers)) {
    for (const path of [prefix, `${prefix}/*`]) {
      fastify.all(path, { schema: { hide: true } }, async (_request, reply) =>
        // In the words of each client: they read `message` or `msg`.
        reply.status(404).send({ code: 404, error_code: 'not_found', msg: message, message }),
      )
    }
  }
}

export default elsewhere
