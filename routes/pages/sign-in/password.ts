import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyReply } from 'fastify'

import {
  accessTokenFor,
  answerOnce,
  factorPage,
  findSignedIn,
  requiresFactor,
} from '../../../modules/page-session/index.ts'
import {
  callApi,
  type Exchange,
  errorText,
  readNext,
  redirectToSignIn,
  sendPage,
  sendToNext,
  textIn,
} from '../../../modules/pages/index.ts'
import { OauthForm, readFormFields } from '../../../schemas/oauth/form.ts'
import { PageOrError } from '../../../schemas/page.ts'
import { NoBody } from '../../../schemas/values/empty.ts'

const Query = Type.Object({ next: Type.Optional(Type.String()) })
/** The session is not from a recovery of today. */
const tooOld = ['reauthentication_needed', 'current_password_required']
const described = {
  tags: ['pages'],
  response: { 200: PageOrError, 303: NoBody, 400: PageOrError },
}

/** Sets a new password after a recovery link. */
const password: FastifyPluginAsyncTypebox = async (app) => {
  const { form } = answerOnce(app)

  app.get(
    '/sign-in/password',
    { schema: { summary: 'New password page', querystring: Query, ...described } },
    async (request, reply) => {
      const signedIn = await findSignedIn(app, request, new Date())
      const next = readNext(request.query.next)
      if (!signedIn) return redirectToSignIn(app, reply, next)
      if (requiresFactor(signedIn.session)) return redirectToFactor(app, reply, next)
      return showForm(app, { request, reply }, next)
    },
  )

  app.post(
    '/sign-in/password',
    { ...form, schema: { summary: 'Submit the new password page', body: OauthForm, ...described } },
    async (request, reply) => {
      const now = new Date()
      const { next: requestedNext, password: chosen } = readFormFields(request.body)
      const next = readNext(requestedNext)
      const signedIn = await findSignedIn(app, request, now)
      if (!signedIn) return redirectToSignIn(app, reply, next)
      const token = await accessTokenFor(app, signedIn, now)
      const response = await callApi(app, request, {
        method: 'PUT',
        url: '/user',
        payload: { password: chosen },
        token,
      })
      const code = textIn(response, 'error_code') ?? ''
      if (code === 'insufficient_aal') return redirectToFactor(app, reply, next)
      if (tooOld.includes(code)) {
        return redirectToSignIn(app, reply, next, {
          page: '/sign-in/recover',
          reason: 'recent_sign_in',
        })
      }
      const error = errorText(response)
      if (error) return showForm(app, { request, reply }, next, error)
      return sendToNext(app, request, reply, next)
    },
  )
}

/** The second factor comes first; it continues here. */
function redirectToFactor(app: FastifyInstance, reply: FastifyReply, next: string) {
  const page = `/sign-in/password?next=${encodeURIComponent(next)}`
  return reply.redirect(factorPage(app, 'verification', page), 303)
}

function showForm(
  app: FastifyInstance,
  { request, reply }: Exchange,
  next: string,
  error?: string,
) {
  const status = error ? 400 : 200
  return sendPage(app, request, reply, 'password', {
    title: (say) => say('recover'),
    next,
    error,
    status,
    data: () => ({ minLength: app.config.AUTH_PASSWORD_MIN_LENGTH }),
  })
}

export default password
