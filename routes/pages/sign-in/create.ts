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
  readNext,
  redirectToSignIn,
  sendPage,
} from '../../../modules/pages/index.ts'
import { OauthForm, readFormFields } from '../../../schemas/oauth/form.ts'
import { PageOrError } from '../../../schemas/page.ts'
import { NoBody } from '../../../schemas/values/empty.ts'
import { mayHaveCode, showSentCode } from './code.ts'
import { finishSignIn, isSession } from './finish.ts'
import { mayCreate } from './form.ts'

const Query = Type.Object({ next: Type.Optional(Type.String()) })
const described = {
  tags: ['pages'],
  response: { 200: PageOrError, 303: NoBody, 400: PageOrError },
}

interface FormState {
  next: string
  email?: string
  error?: string | undefined
}

const create: FastifyPluginAsyncTypebox = async (app) => {
  const { form } = answerOnce(app)

  app.get(
    '/sign-in/create',
    { schema: { summary: 'Sign-up page', querystring: Query, ...described } },
    async (request, reply) => {
      const next = readNext(request.query.next)
      if (!mayCreate(app)) {
        return redirectToSignIn(app, reply, next, { reason: 'sign_up_disabled' })
      }
      return showForm(app, { request, reply }, { next })
    },
  )

  app.post(
    '/sign-in/create',
    { ...form, schema: { summary: 'Submit the sign-up page', body: OauthForm, ...described } },
    async (request, reply) => {
      const exchange = { request, reply }
      const fields = readFormFields(request.body)
      const { email = '', password } = fields
      const next = readNext(fields.next)
      if (!mayCreate(app)) {
        return redirectToSignIn(app, reply, next, { reason: 'sign_up_disabled' })
      }
      const cookie = ensureCookie(app, request, reply)
      const { redirect_to, ...pkce } = linkFlow(app, cookie, next)
      const payload = { email, password, ...pkce, ...captchaToken(app, fields) }
      const query = { redirect_to }
      const response = await callApi(app, request, { url: '/signup', query, payload })
      if (isSession(response)) return finishSignIn(app, request, reply, response, next)
      if (mayHaveCode(response)) {
        return showSentCode(app, exchange, { purpose: 'sign_up', email, next }, response)
      }
      return showForm(app, exchange, { next, email, error: errorText(response) })
    },
  )
}

function showForm(
  app: FastifyInstance,
  { request, reply }: Exchange,
  { next, email = '', error }: FormState,
) {
  return sendPage(app, request, reply, 'create', {
    title: (say) => say('create'),
    next,
    error,
    status: error ? 400 : 200,
    captcha: getShownCaptcha(app),
    data: () => ({ email, minLength: app.config.AUTH_PASSWORD_MIN_LENGTH }),
  })
}

export default create
