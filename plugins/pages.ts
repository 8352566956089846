/** The few pages that the server itself shows: a heading, a sentence, a button. No script, nothing loaded. */
import type { FastifyReply } from 'fastify'

import { definePlugin } from './define-plugin.ts'
import type { Languages } from './languages.ts'
import { pageHeaders, pageOf, type Said } from './pages/html.ts'

declare module 'fastify' {
  interface FastifyInstance {
    pages: ReturnType<typeof createPages>
  }
}

/** What a page says, in every language. */
export type PageName = keyof Texts

interface PageOptions extends Pick<Said, 'link' | 'details'> {
  /** An Accept-Language header. */
  language: string | undefined
  /** What its button, where it has one, sends back to the address that the page came from. */
  fields?: Record<string, string>
}

type Texts = ReturnType<Languages['speech']>['texts']['pages']

function createPages({ ofReader }: Pick<Languages, 'ofReader'>) {
  // Programs are answered in JSON where a person reads a page.
  const headers = { ...pageHeaders, vary: 'Origin, Accept, Accept-Language' }
  return {
    headers,

    /** Answers with a page in the language of the reader. */
    send(
      reply: FastifyReply,
      name: PageName,
      { language, fields = {}, ...rest }: PageOptions,
    ): FastifyReply {
      const { tag, direction, texts } = ofReader(language)
      const html = pageOf({ ...texts.pages[name], ...rest }, { tag, direction }, fields)
      return reply.headers(headers).type('text/html; charset=utf-8').send(html)
    },
  }
}

export default definePlugin({
  name: 'pages',
  needs: ['languages'],
  create: ({ languages }) => createPages(languages),
})
