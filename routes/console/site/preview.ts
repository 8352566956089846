import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { crossSiteForm } from '../../../schemas/errors.ts'
import { OauthForm, readFormFields } from '../../../schemas/oauth/form.ts'

/**
 * An opaque origin without scripts. A `srcdoc` frame would inherit the console's policy, which blocks the inline styles
 * of emails.
 */
const policy = [
  'sandbox',
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  'img-src data:',
  "frame-ancestors 'self'",
].join('; ')

/** Shows the HTML of an email that the console posts into a frame. */
const Page = Type.String()
const preview: FastifyPluginAsyncTypebox = async (app) => {
  app.post(
    '/console/preview',
    { schema: { hide: true, body: OauthForm, response: { 200: Page } } },
    async (request, reply) => {
      const { 'sec-fetch-site': site, 'sec-fetch-dest': destination } = request.headers
      if (site !== 'same-origin' || destination !== 'iframe') throw crossSiteForm()
      const { html = '' } = readFormFields(request.body)
      reply.header('content-security-policy', policy).header('referrer-policy', 'no-referrer')
      return reply.type('text/html; charset=utf-8').send(html)
    },
  )
}

export default preview
