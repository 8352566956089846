/** Recovery of an account: the request for an email, and the new password. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyReply } from 'fastify'

import {
  accessTokenFor,
  answerOnce,
  ensureCookie,
  factorPage,
  findSignedIn,
  linkFlow,
  requiresFactor,
} from '../../../modules/page-session/index.ts'
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
  redirectToSignIn,
  sendPage,
  sendToNext,
  textIn,
} from '../../../modules/pages/index.ts'
import { OauthForm, readFormFields } from '../../../schemas/oauth/form.ts'
import { PageOrError } from '../../../schemas/page.ts'
import { NoBody } from '../../../schemas/values/empty.ts'
import { mayHaveCode, showSentCode } from './code.ts'

const RecoveryQuery = Type.Object({
  next: Type.Optional(Type.String()),
  /** Why a link did not lead to the new password. */
  reason: Type.Optional(Type.String()),
})
const recoveryDescribed = { tags: ['pages'], response: { 200: PageOrError, 400: PageOrError } }

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
    {
      schema: {
        summary: 'Password recovery page',
        querystring: RecoveryQuery,
        ...recoveryDescribed,
      },
    },
    async (request, reply) => {
      const { next, reason } = request.query
      const shown = { next: readNext(next), reason: readReason(reason) }
      return showRecoveryForm(app, { request, reply }, shown)
    },
  )

  app.post(
    '/sign-in/recover',
    {
      ...form,
      schema: {
        summary: 'Submit the password recovery page',
        body: OauthForm,
        ...recoveryDescribed,
      },
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
      return showRecoveryForm(app, exchange, { next, email, error: errorText(response) })
    },
  )
}

function showRecoveryForm(
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

const PasswordQuery = Type.Object({ next: Type.Optional(Type.String()) })
/** The session is not from a recovery of today. */
const tooOld = ['reauthentication_needed', 'current_password_required']
const passwordDescribed = {
  tags: ['pages'],
  response: { 200: PageOrError, 303: NoBody, 400: PageOrError },
}

/** Sets a new password after a recovery link. */
const password: FastifyPluginAsyncTypebox = async (app) => {
  const { form } = answerOnce(app)

  app.get(
    '/sign-in/password',
    { schema: { summary: 'New password page', querystring: PasswordQuery, ...passwordDescribed } },
    async (request, reply) => {
      const signedIn = await findSignedIn(app, request, new Date())
      const next = readNext(request.query.next)
      if (!signedIn) return redirectToSignIn(app, reply, next)
      if (requiresFactor(signedIn.session)) return redirectToFactor(app, reply, next)
      return showPasswordForm(app, { request, reply }, next)
    },
  )

  app.post(
    '/sign-in/password',
    {
      ...form,
      schema: { summary: 'Submit the new password page', body: OauthForm, ...passwordDescribed },
    },
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
      if (error) return showPasswordForm(app, { request, reply }, next, error)
      return sendToNext(app, request, reply, next)
    },
  )
}

/** The second factor comes first; it continues here. */
function redirectToFactor(app: FastifyInstance, reply: FastifyReply, next: string) {
  const page = `/sign-in/password?next=${encodeURIComponent(next)}`
  return reply.redirect(factorPage(app, 'verification', page), 303)
}

function showPasswordForm(
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

export const recoveryRoutes = { recover, password }
