/** Pages for development, and the files that they load. */
import { readFile } from 'node:fs/promises'

import type { FastifyPluginAsync } from 'fastify'

import { notFound } from '../../schemas/errors.ts'

const landing: FastifyPluginAsync = async (app) => {
  const page = await readFile(new URL('assets/landing.html', import.meta.url))

  app.get('/dev', { schema: { hide: true } }, async (_request, reply) =>
    reply.type('text/html; charset=utf-8').send(page),
  )
  // Redirects the bare URL to the landing page.
  app.get('/', { schema: { hide: true } }, async (_request, reply) => reply.redirect('/dev'))
}

/** The target of links until AUTH_SITE_URL is set; assets/signed-in.js shows the session. */
const signedIn: FastifyPluginAsync = async (app) => {
  const page = await readFile(new URL('assets/signed-in.html', import.meta.url))

  app.get('/dev/signed-in', { schema: { hide: true } }, async (_request, reply) =>
    reply.type('text/html; charset=utf-8').send(page),
  )
}

const assetTypes = {
  'dev.css': 'text/css; charset=utf-8',
  'inbox.js': 'text/javascript; charset=utf-8',
  'mail-templates.js': 'text/javascript; charset=utf-8',
  'signed-in.js': 'text/javascript; charset=utf-8',
}

const assets: FastifyPluginAsync = async (app) => {
  for (const [name, type] of Object.entries(assetTypes)) {
    const content = await readFile(new URL(`assets/${name}`, import.meta.url))
    app.get(`/dev/${name}`, { schema: { hide: true } }, async (_request, reply) =>
      reply.type(type).send(content),
    )
  }
}

const exampleFolder = new URL('../../examples/web/', import.meta.url)

const exampleTypes: Record<string, string> = {
  '': 'text/html; charset=utf-8',
  'style.css': 'text/css; charset=utf-8',
  'app.js': 'text/javascript; charset=utf-8',
  'show.js': 'text/javascript; charset=utf-8',
  'supabase.js': 'text/javascript; charset=utf-8',
}

/** examples/web as a separate site, with the published SDK. Read at each request, so that edits apply. */
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
      const type = Object.hasOwn(exampleTypes, name) ? exampleTypes[name] : undefined
      if (type === undefined) throw notFound()
      return reply.type(type).send(await readFile(resolveFile(name)))
    },
  )
}

function resolveFile(name: string): URL {
  if (name !== 'supabase.js') return new URL(name || 'index.html', exampleFolder)
  // Resolved by Node, wherever npm installed it.
  const main = import.meta.resolve('@supabase/supabase-js')
  return new URL('umd/supabase.js', main.slice(0, main.lastIndexOf('/dist/') + '/dist/'.length))
}

export const pageRoutes = { landing, signedIn, assets, example }
