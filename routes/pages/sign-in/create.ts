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
  readNext,
  sendPage,
} from '../../../modules/pages/index.ts'
import { OauthForm, readFormFields } from '../../../schemas/oauth/form.ts'
import { PageOrError } from '../../../schemas/page.ts'
import { finishSignIn, isSession } from './finish.ts'

const Query = Type.Object({ next: Type.Optional(Type.String()) })
const described = { tags: ['pages'], response: { 200: PageOrError, 400: PageOrError } }

interface FormState {
  next: string
  email?: string
  error?: string
}

const create: FastifyPluginAsyncTypebox = async (fastify) => {
  fastify.get(
    '/sign-in/create',
    { schema: { summary: 'Sign-up page', querystring: Query, ...described } },
    async (request, reply) => showForm(request, reply, { next: readNext(request.query.next) }),
  )

  fastify.post(
    '/sign-in/create',
    { schema: { summary: 'Submit the sign-up page', body: OauthForm, ...described } },
    async (request, reply) => {
      const fields = readFormFields(request.body)
      const { form_token, next: requestedNext, email = '', password } = fields
      checkForm(fastify, request, form_token)
      const next = readNext(requestedNext)
      const cookie = ensureCookie(fastify, request, reply)
      const { redirect_to, ...pkce } = linkFlow(fastify, cookie, next)
      const url = `/signup?redirect_to=${encodeURIComponent(redirect_to)}`
      const payload = { email, password, ...pkce, ...captchaToken(fastify, fields) }
      const response = await callApi(fastify, request, { url, payload })
      if (isSession(response)) return finishSignIn(fastify, request, reply, response, next)
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
    { next, email = '', error }: FormState,
  ) {
    return sendPage(fastify, request, reply, 'create', {
      title: (say) => say('create'),
      next,
      error,
      status: error ? 400 : 200,
      captcha: getShownCaptcha(fastify),
      data: () => ({ email }),
    })
  }
}

export default create
