import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'

import { checkForm } from '../../../modules/page-session/index.ts'
import {
  callApi,
  captchaToken,
  ensureCookie,
  errorText,
  getShownCaptcha,
  linkFlow,
  parseIdentifier,
  readNext,
  sendPage,
} from '../../../modules/pages/index.ts'
import { OauthForm, readFormFields } from '../../../schemas/oauth/form.ts'
import { PageOrError } from '../../../schemas/page.ts'

const Query = Type.Object({ next: Type.Optional(Type.String()) })
const described = { tags: ['pages'], response: { 200: PageOrError, 400: PageOrError } }

const recover: FastifyPluginAsyncTypebox = async (fastify) => {
  fastify.get(
    '/sign-in/recover',
    { schema: { summary: 'Password recovery page', querystring: Query, ...described } },
    async (request, reply) => showForm(request, reply, { next: readNext(request.query.next) }),
  )

  fastify.post(
    '/sign-in/recover',
    {
      schema: { summary: 'Submit the password recovery page', body: OauthForm, ...described },
    },
    async (request, reply) => {
      const fields = readFormFields(request.body)
      const { form_token, next: requestedNext, email = '' } = fields
      checkForm(fastify, request, form_token)
      const next = readNext(requestedNext)
      const cookie = ensureCookie(fastify, request, reply)
      const page = `/sign-in/password?next=${encodeURIComponent(next)}`
      const { redirect_to, ...pkce } = linkFlow(fastify, cookie, page)
      const url = `/recover?redirect_to=${encodeURIComponent(redirect_to)}`
      const response = await callApi(fastify, request, {
        url,
        payload: { ...parseIdentifier(fastify, email), ...pkce, ...captchaToken(fastify, fields) },
      })
      const error = errorText(response)
      if (error) return showForm(request, reply, { next, email, error })
      return sendPage(fastify, request, reply, 'message', {
        title: (say) => say('mail_title'),
        next,
        data: (say) => ({ text: say('mail_sent', { address: email }) }),
      })
    },
  )

  function showForm(
    request: FastifyRequest,
    reply: FastifyReply,
    { next, email = '', error }: { next: string; email?: string; error?: string },
  ) {
    return sendPage(fastify, request, reply, 'recover', {
      title: (say) => say('recover'),
      next,
      error,
      status: error ? 400 : 200,
      captcha: getShownCaptcha(fastify),
      data: () => ({ email, hasUsernames: fastify.config.AUTH_USERNAMES_ENABLED }),
    })
  }
}

export default recover
