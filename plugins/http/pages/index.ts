/** The server's own simple pages: a heading, a sentence, a button, and no external resources. */
import type { FastifyReply } from 'fastify'

import { definePlugin } from '../../define-plugin.ts'
import type { Languages } from '../../localization/languages/index.ts'
import { type PageText, pageHeaders, postingPolicy, renderPageFrame } from './html.ts'

declare module 'fastify' {
  interface FastifyInstance {
    pages: ReturnType<typeof createPages>
  }
}

/** A page's name; its texts exist in every language. */
export type ServerPageName = keyof Texts

interface PageOptions extends Pick<PageText, 'link' | 'details'> {
  /** An Accept-Language header. */
  language: string | undefined
  /** Sent by its button, if it has one, to the page's own address or to `action`. */
  fields?: Record<string, string>
  /** Another server, to which the browser posts the fields automatically. */
  action?: string
}

type Texts = ReturnType<Languages['messagesFor']>['texts']['pages']

function createPages({ ofReader }: Pick<Languages, 'ofReader'>) {
  // The same address returns JSON to programs.
  const headers = { ...pageHeaders, vary: 'Origin, Accept, Accept-Language' }
  return {
    headers,

    /** Responds with a page in the reader's language. */
    send(
      reply: FastifyReply,
      name: ServerPageName,
      { language, fields = {}, action, ...rest }: PageOptions,
    ): FastifyReply {
      const { tag, direction, texts } = ofReader(language)
      const html = renderPageFrame(
        { ...texts.pages[name], ...rest },
        { tag, direction },
        { fields, action },
      )
      const policy = action ? { 'content-security-policy': postingPolicy } : {}
      return reply
        .headers({ ...headers, ...policy })
        .type('text/html; charset=utf-8')
        .send(html)
    },
  }
}

export default definePlugin({
  name: 'pages',
  deps: ['languages'],
  create: ({ languages }) => createPages(languages),
})
