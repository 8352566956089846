import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'

import { answerOnce, ensureCookie, linkFlow } from '../../../modules/page-session/index.ts'
import {
  callApi,
  captchaToken,
  type Exchange,
  errorText,
  getShownCaptcha,
  parseIdentifier,
  type Reason,
  readNext,
  readReason,
  sendPage,
} from '../../../modules/pages/index.ts'
import { OauthForm, readFormFields } from '../../../schemas/oauth/form.ts'
import { PageOrError } from '../../../schemas/page.ts'
import { mayHaveCode, showSentCode } from './code.ts'

const Query = Type.Object({
  next: Type.Optional(Type.String()),
  /** Why a link did not lead to the new password. */
  reason: Type.Optional(Type.String()),
})
const described = { tags: ['pages'], response: { 200: PageOrError, 400: PageOrError } }

interface FormState {
  next: string
  email?: string
  error?: string | undefined
  reason?: Reason | undefined
}

const recover: FastifyPluginAsyncTypebox = async (app) => {
  const { form } = answerOnce(app)

  app.get(
    '/sign-in/recover',
    { schema: { summary: 'Password recovery page', querystring: Query, ...described } },
    async (request, reply) => {
      const { next, reason } = request.query
      const shown = { next: readNext(next), reason: readReason(reason) }
      return showForm(app, { request, reply }, shown)
    },
  )

  app.post(
    '/sign-in/recover',
    {
      ...form,
      schema: { summary: 'Submit the password recovery page', body: OauthForm, ...described },
    },
    async (request, reply) => {
      const exchange = { request, reply }
      const fields = readFormFields(request.body)
      const { email = '' } = fields
      const next = readNext(fields.next)
      const cookie = ensureCookie(app, request, reply)
      const page = `/sign-in/password?next=${encodeURIComponent(next)}`
      const { redirect_to, ...pkce } = linkFlow(app, cookie, page)
      const response = await callApi(app, request, {
        url: '/recover',
        query: { redirect_to },
        payload: { ...parseIdentifier(app, email), ...pkce, ...captchaToken(app, fields) },
      })
      if (mayHaveCode(response)) {
        return showSentCode(app, exchange, { purpose: 'recovery', email, next }, response)
      }
      return showForm(app, exchange, { next, email, error: errorText(response) })
    },
  )
}

function showForm(
  app: FastifyInstance,
  { request, reply }: Exchange,
  { next, email = '', error, reason }: FormState,
) {
  return sendPage(app, request, reply, 'recover', {
    title: (say) => say('recover'),
    next,
    error,
    reason,
    status: error ? 400 : 200,
    captcha: getShownCaptcha(app),
    data: () => ({ email, hasUsernames: app.config.AUTH_USERNAMES_ENABLED }),
  })
}

export default recover
