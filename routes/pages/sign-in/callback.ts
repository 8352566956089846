import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { browserId } from '../../../modules/page-session/index.ts'
import { callApi, readNext, sendPage, verifierFor } from '../../../modules/pages/index.ts'
import { PageOrError } from '../../../schemas/page.ts'
import { NoBody } from '../../../schemas/values/empty.ts'
import { finishSignIn, isSession } from './finish.ts'
import { finishChange } from './finish-change.ts'

const Query = Type.Object({
  next: Type.Optional(Type.String()),
  code: Type.Optional(Type.String()),
  /** `change` for a change of the account page. */
  purpose: Type.Optional(Type.String()),
  message: Type.Optional(Type.String()),
  error: Type.Optional(Type.String()),
})

/** The redirect target of email links and providers: the code is valid in the requesting browser only. */
const callback: FastifyPluginAsyncTypebox = async (fastify) => {
  fastify.get(
    '/sign-in/callback',
    {
      schema: {
        summary: 'Redirect target of links and providers for the pages',
        tags: ['pages'],
        querystring: Query,
        response: { 200: PageOrError, 303: NoBody, 400: PageOrError },
      },
    },
    async (request, reply) => {
      const { code, next, error, purpose } = request.query
      const isChange = purpose === 'change' && !error && readNext(next) !== ''
      if (isChange) return finishChange(fastify, request, reply, request.query)
      const cookie = browserId(fastify, request)
      if (code && cookie) {
        const payload = { auth_code: code, code_verifier: verifierFor(fastify, cookie) }
        const response = await callApi(fastify, request, { url: '/token?grant_type=pkce', payload })
        if (isSession(response)) {
          return finishSignIn(fastify, request, reply, response, readNext(next))
        }
      }
      return sendPage(fastify, request, reply, 'message', {
        title: (say) => say('error_title'),
        status: 400,
        data: (say) => ({ text: say('error_request') }),
      })
    },
  )
}

export default callback
