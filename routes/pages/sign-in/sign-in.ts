import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

import { checkForm } from '../../../modules/page-session/index.ts'
import {
  type ApiResponse,
  callApi,
  captchaToken,
  ensureCookie,
  errorText,
  getShownCaptcha,
  jsonIn,
  linkFlow,
  parseIdentifier,
  readNext,
  sendPage,
} from '../../../modules/pages/index.ts'
import type { Deps } from '../../../plugins/define-plugin.ts'
import { OauthForm, readFormFields } from '../../../schemas/oauth/form.ts'
import { PageOrError } from '../../../schemas/page.ts'
import { findRequestingApp } from './app-name.ts'
import { finishSignIn, isSession } from './finish.ts'
import { providersFor } from './providers.ts'

const Query = Type.Object({
  next: Type.Optional(Type.String()),
  login_hint: Type.Optional(Type.String()),
})

const described = { tags: ['pages'], response: { 200: PageOrError, 400: PageOrError } }

type Fields = Record<string, string>

const signIn: FastifyPluginAsyncTypebox = async (fastify) => {
  const { rateLimits } = fastify

  fastify.get(
    '/sign-in',
    { schema: { summary: 'Sign-in page', querystring: Query, ...described } },
    async (request, reply) => {
      const { next, login_hint: email = '' } = request.query
      return showForm(fastify, request, reply, { next: readNext(next), email })
    },
  )

  fastify.post(
    '/sign-in/passkey',
    {
      config: { rateLimit: rateLimits.passkey },
      schema: {
        summary: 'Create authentication options for the sign-in page',
        tags: ['pages'],
        body: Type.Union([OauthForm, Type.Null()]),
      },
    },
    async (request) => {
      const { body } = await callApi(fastify, request, {
        url: '/passkeys/authentication/options',
        payload: captchaToken(fastify, readFormFields(request.body ?? {})),
      })
      return body
    },
  )

  fastify.post(
    '/sign-in',
    { schema: { summary: 'Submit the sign-in page', body: OauthForm, ...described } },
    async (request, reply) => {
      const fields = readFormFields(request.body)
      checkForm(fastify, request, fields.form_token)
      const next = readNext(fields.next)
      if (fields.action === 'code' || fields.action === 'sms') {
        return sendCode(fastify, request, reply, fields, next)
      }
      const response = await callApi(fastify, request, attemptIn(fastify, fields))
      if (isSession(response)) return finishSignIn(fastify, request, reply, response, next)
      const error = errorIn(fastify, response)
      if (fields.action === 'verify') {
        return showCodeForm(fastify, request, reply, fields, { next, error })
      }
      return showForm(fastify, request, reply, { next, email: fields.email ?? '', error })
    },
  )
}

async function sendCode(
  fastify: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
  fields: Fields,
  next: string,
) {
  const { config } = fastify
  const { email, phone, action } = fields
  if (action === 'code' && 'username' in parseIdentifier(fastify, email)) {
    return showForm(fastify, request, reply, {
      next,
      email: email ?? '',
      error: 'code_needs_email',
    })
  }
  const cookie = ensureCookie(fastify, request, reply)
  const { redirect_to, ...pkce } = linkFlow(fastify, cookie, next)
  const url = `/otp?redirect_to=${encodeURIComponent(redirect_to)}`
  const payload = action === 'sms' ? { phone } : { email, ...pkce }
  const create_user = !config.AUTH_DISABLE_SIGNUP
  const response = await callApi(fastify, request, {
    url,
    payload: { ...payload, create_user, ...captchaToken(fastify, fields) },
  })
  const error = errorText(response)
  // Where sign-up is disabled, the response is the same for an unknown address.
  if (!error || response.body.error_code === 'otp_disabled') {
    const shown = action === 'sms' ? { phone } : { email }
    return showCodeForm(fastify, request, reply, shown, { next })
  }
  return showForm(fastify, request, reply, { next, email: email ?? '', error })
}

function showCodeForm(
  fastify: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
  { email = '', phone = '' }: { email?: string | undefined; phone?: string | undefined },
  { next, error }: { next: string; error?: string },
) {
  return sendPage(fastify, request, reply, 'code', {
    title: (say) => say('code_title'),
    next,
    error,
    status: error ? 400 : 200,
    data: () => ({ email, phone }),
  })
}

async function showForm(
  fastify: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
  { next, email, error }: { next: string; email: string; error?: string },
) {
  const { config } = fastify
  const cookie = ensureCookie(fastify, request, reply)
  const app = await findRequestingApp(fastify, next)
  return sendPage(fastify, request, reply, 'sign-in', {
    title: (say) => say('sign_in'),
    next,
    error,
    status: error ? 400 : 200,
    captcha: getShownCaptcha(fastify),
    locales: app?.locales,
    data: () => ({
      app: app?.name,
      email,
      hasUsernames: config.AUTH_USERNAMES_ENABLED,
      hasPassword: config.AUTH_EXTERNAL_EMAIL_ENABLED,
      hasPhone: config.AUTH_EXTERNAL_PHONE_ENABLED,
      hasPasskeys: config.AUTH_PASSKEY_ENABLED,
      providers: providersFor(fastify, cookie, next),
      mayCreate: !config.AUTH_DISABLE_SIGNUP && config.AUTH_EXTERNAL_EMAIL_ENABLED,
    }),
  })
}

/** The page's text for a rejected sign-in. */
function errorIn({ config }: Deps<'config'>, response: ApiResponse): string {
  const error = errorText(response) ?? 'failed'
  const isWrong = error === 'wrong_credentials' && config.AUTH_USERNAMES_ENABLED
  return isWrong ? 'wrong_name_or_password' : error
}

/** The API call of a form. */
function attemptIn(deps: Deps<'config'>, fields: Fields) {
  const { action, email, phone, password, code, ...passkey } = fields
  if (action === 'passkey') {
    const payload = { challenge_id: passkey.challenge_id, credential: jsonIn(passkey.credential) }
    return { url: '/passkeys/authentication/verify', payload }
  }
  if (action === 'verify') {
    const address = phone ? { phone, type: 'sms' } : { email, type: 'email' }
    return { url: '/verify', payload: { ...address, token: code?.trim() } }
  }
  return {
    url: '/token?grant_type=password',
    payload: { ...parseIdentifier(deps, email), password, ...captchaToken(deps, fields) },
  }
}

export default signIn
