import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'

import { accessTokenFor, checkForm, findSignedIn } from '../../../modules/page-session/index.ts'
import { callApi, errorText, readNext, sendPage, sendToNext } from '../../../modules/pages/index.ts'
import { OauthForm, readFormFields } from '../../../schemas/oauth/form.ts'
import { PageOrError } from '../../../schemas/page.ts'
import { NoBody } from '../../../schemas/values/empty.ts'

const Query = Type.Object({ next: Type.Optional(Type.String()) })
const described = {
  tags: ['pages'],
  response: { 200: PageOrError, 303: NoBody, 400: PageOrError },
}

/** Sets a new password after a recovery link. */
const password: FastifyPluginAsyncTypebox = async (fastify) => {
  const { config } = fastify
  const base = config.AUTH_API_EXTERNAL_URL

  fastify.get(
    '/sign-in/password',
    { schema: { summary: 'New password page', querystring: Query, ...described } },
    async (request, reply) => {
      const signedIn = await findSignedIn(fastify, request, new Date())
      const next = readNext(request.query.next)
      if (!signedIn) return reply.redirect(`${base}/sign-in?next=${encodeURIComponent(next)}`, 303)
      return showForm(request, reply, next, undefined)
    },
  )

  fastify.post(
    '/sign-in/password',
    { schema: { summary: 'Submit the new password page', body: OauthForm, ...described } },
    async (request, reply) => {
      const now = new Date()
      const { form_token, next: requestedNext, password: chosen } = readFormFields(request.body)
      checkForm(fastify, request, form_token)
      const next = readNext(requestedNext)
      const signedIn = await findSignedIn(fastify, request, now)
      if (!signedIn) return reply.redirect(`${base}/sign-in?next=${encodeURIComponent(next)}`, 303)
      const token = await accessTokenFor(fastify, signedIn, now)
      const response = await callApi(fastify, request, {
        method: 'PUT',
        url: '/user',
        payload: { password: chosen },
        token,
      })
      const error = errorText(response)
      if (error) return showForm(request, reply, next, error)
      return sendToNext(fastify, request, reply, next)
    },
  )

  function showForm(
    request: FastifyRequest,
    reply: FastifyReply,
    next: string,
    error: string | undefined,
  ) {
    const title = 'new_password' as const
    const status = error ? 400 : 200
    return sendPage(fastify, request, reply, 'password', {
      title: (say) => say(title),
      next,
      error,
      status,
    })
  }
}

export default password
