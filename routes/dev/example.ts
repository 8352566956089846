/** examples/web as a separate site, with the published SDK. Read at each request, so that edits apply. */
import { readFile } from 'node:fs/promises'

import type { FastifyPluginAsync } from 'fastify'

import { notFound } from '../../schemas/errors.ts'

const folder = new URL('../../examples/web/', import.meta.url)

const types: Record<string, string> = {
  '': 'text/html; charset=utf-8',
  'style.css': 'text/css; charset=utf-8',
  'app.js': 'text/javascript; charset=utf-8',
  'show.js': 'text/javascript; charset=utf-8',
  'supabase.js': 'text/javascript; charset=utf-8',
}

const example: FastifyPluginAsync = async (app) => {
  // Browsers allow passkeys for names only, and localhost is always local.
  app.get('/dev/example', { schema: { hide: true } }, async ({ host }, reply) => {
    const isBare = /^127\.0\.0\.1(:\d+)?$/.test(host)
    const origin = isBare ? `http://${host.replace('127.0.0.1', 'localhost')}` : ''
    return reply.redirect(`${origin}/dev/example/`)
  })

  app.get<{ Params: { '*': string } }>(
    '/dev/example/*',
    { schema: { hide: true } },
    async ({ params }, reply) => {
      const name = params['*']
      const type = Object.hasOwn(types, name) ? types[name] : undefined
      if (type === undefined) throw notFound()
      return reply.type(type).send(await readFile(resolveFile(name)))
    },
  )
}

function resolveFile(name: string): URL {
  if (name !== 'supabase.js') return new URL(name || 'index.html', folder)
  // Resolved by Node, wherever npm installed it.
  const main = import.meta.resolve('@supabase/supabase-js')
  return new URL('umd/supabase.js', main.slice(0, main.lastIndexOf('/dist/') + '/dist/'.length))
}

export default example
