/** The documentation as a site, from the Markdown of the repository. Read at each request, so that an edit shows. */
import { readFile } from 'node:fs/promises'

import type { FastifyPluginAsync } from 'fastify'

import { notFound } from '../../../errors.ts'
import { layout } from './layout.ts'
import { inChapters, readPages } from './pages.ts'
import { createRender, sectionsOf } from './render.ts'

const images = new URL('../../../docs/images/', import.meta.url)

const guide: FastifyPluginAsync = async (fastify) => {
  const hidden = { schema: { hide: true } }

  fastify.get('/docs/guide', hidden, async (_request, reply) =>
    reply.type('text/html; charset=utf-8').send(await pageAt('/docs/guide')),
  )

  fastify.get<{ Params: { '*': string } }>('/docs/guide/*', hidden, async ({ params }, reply) =>
    reply.type('text/html; charset=utf-8').send(await pageAt(`/docs/guide/${params['*']}`)),
  )

  fastify.get<{ Params: { name: string } }>(
    '/docs/guide/images/:name',
    hidden,
    async ({ params: { name } }, reply) => {
      if (!/^[a-z0-9-]+\.png$/.test(name)) throw notFound()
      const image = await readFile(new URL(name, images)).catch(() => undefined)
      if (image === undefined) throw notFound()
      return reply.type('image/png').send(image)
    },
  )

  fastify.get('/docs/guide/search.json', hidden, async () => readPages().flatMap(sectionsOf))

  fastify.get('/docs/guide/minisearch.js', hidden, async (_request, reply) => {
    const main = import.meta.resolve('minisearch')
    return reply.type('text/javascript; charset=utf-8').send(await readFile(new URL(main)))
  })
}

/** Throws not_found for what is no page. */
async function pageAt(url: string): Promise<string> {
  const pages = readPages()
  const page = pages.find((each) => each.url === url.replace(/(.)\/$/, '$1'))
  if (page === undefined) throw notFound()
  const render = await createRender(pages)
  return layout(page, render(page), inChapters(pages))
}

export default guide
