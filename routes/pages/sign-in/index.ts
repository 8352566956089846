/** Sign-in on the hosted pages: this page with every method, and the pages that it leads to. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyReply } from 'fastify'

import {
  answerOnce,
  ensureCookie,
  linkFlow,
  returnCookie,
} from '../../../modules/page-session/index.ts'
import {
  type ApiCall,
  type ApiResponse,
  callApi,
  captchaToken,
  type Exchange,
  errorText,
  jsonIn,
  parseIdentifier,
  readNext,
  readReason,
  sendOnward,
  textIn,
} from '../../../modules/pages/index.ts'
import { OauthForm, readFormFields } from '../../../schemas/oauth/form.ts'
import { PageOrError } from '../../../schemas/page.ts'
import callback from './callback.ts'
import {
  mayHaveCode,
  pageAfter,
  readSentCode,
  showCodeForm,
  showSentCode,
  verification,
} from './code.ts'
import create from './create.ts'
import factor from './factor.ts'
import { finishSignIn, isSession } from './finish.ts'
import { showSignIn } from './form.ts'
import { recoveryRoutes } from './recovery.ts'

const Form = Type.Union([OauthForm, Type.Null()])
const Query = Type.Object({
  next: Type.Optional(Type.String()),
  login_hint: Type.Optional(Type.String()),
  /** Why a link or a provider did not complete the sign-in. */
  reason: Type.Optional(Type.String()),
})

const described = { tags: ['pages'], response: { 200: PageOrError, 400: PageOrError } }

type Fields = Record<string, string>

const signIn: FastifyPluginAsyncTypebox = async (app) => {
  const { rateLimits } = app
  const { form } = answerOnce(app)

  app.get(
    '/sign-in',
    { schema: { summary: 'Sign-in page', querystring: Query, ...described } },
    async (request, reply) => {
      const { next, login_hint: email = '', reason } = request.query
      const shown = { next: readNext(next), email, reason: readReason(reason) }
      return showSignIn(app, { request, reply }, shown)
    },
  )

  app.post(
    '/sign-in/passkey',
    {
      config: { rateLimit: rateLimits.passkey },
      schema: {
        summary: 'Create authentication options for the sign-in page',
        tags: ['pages'],
        body: Form,
      },
    },
    async (request) => {
      const { body } = await callApi(app, request, {
        url: '/passkeys/authentication/options',
        payload: captchaToken(app, readFormFields(request.body ?? {})),
      })
      return body
    },
  )

  app.post(
    '/sign-in',
    { ...form, schema: { summary: 'Submit the sign-in page', body: OauthForm, ...described } },
    async (request, reply) => {
      const exchange = { request, reply }
      const fields = readFormFields(request.body)
      const next = readNext(fields.next)
      if (fields.action === 'code' || fields.action === 'sms') {
        return sendCode(app, exchange, fields, next)
      }
      if (fields.action === 'verify') return verifyCode(app, exchange, fields, next)
      if (fields.action === 'sso') {
        const begun = await startSso(app, exchange, fields, next)
        if (typeof begun !== 'string') return begun
        return showSignIn(app, exchange, { next, email: fields.email ?? '', error: begun })
      }
      const response = await callApi(app, request, attemptIn(app, fields))
      if (isSession(response)) return finishSignIn(app, request, reply, response, next)
      const error = errorIn(app, response)
      return showSignIn(app, exchange, { next, email: fields.email ?? '', error })
    },
  )
}

async function verifyCode(
  app: FastifyInstance,
  exchange: Exchange,
  fields: Fields,
  next: string,
): Promise<FastifyReply> {
  const { request, reply } = exchange
  const sent = readSentCode(fields, next)
  const response = await callApi(app, request, verification(app, sent, fields.code))
  return isSession(response)
    ? finishSignIn(app, request, reply, response, pageAfter(sent))
    : showCodeForm(app, exchange, sent, errorIn(app, response))
}

async function sendCode(
  app: FastifyInstance,
  exchange: Exchange,
  fields: Fields,
  next: string,
): Promise<FastifyReply> {
  const { request, reply } = exchange
  const { email = '', phone, action } = fields
  if (action === 'code' && 'username' in parseIdentifier(app, email)) {
    return showSignIn(app, exchange, { next, email, error: 'code_needs_email' })
  }
  const cookie = ensureCookie(app, request, reply)
  const { redirect_to, ...pkce } = linkFlow(app, cookie, next)
  const address = action === 'sms' ? { phone } : { email }
  const create_user = !app.config.AUTH_DISABLE_SIGNUP
  const response = await callApi(app, request, {
    url: '/otp',
    query: { redirect_to },
    payload: {
      ...address,
      ...(action === 'code' && pkce),
      create_user,
      ...captchaToken(app, fields),
    },
  })
  if (mayHaveCode(response)) {
    const sent = { purpose: 'sign_in' as const, ...address, next }
    return showSentCode(app, exchange, sent, response)
  }
  const error = errorText(response) ?? 'failed'
  return showSignIn(app, exchange, { next, email, error, isByPhone: action === 'sms' })
}

/** The page's text for a rejected sign-in. */
function errorIn({ config }: FastifyInstance, response: ApiResponse): string {
  const error = errorText(response) ?? 'failed'
  const isWrong = error === 'wrong_credentials' && config.AUTH_USERNAMES_ENABLED
  return isWrong ? 'wrong_name_or_password' : error
}

/** The API call of a form. */
function attemptIn(app: FastifyInstance, fields: Fields): ApiCall {
  const { action, email, password, ...passkey } = fields
  if (action === 'passkey') {
    const payload = { challenge_id: passkey.challenge_id, credential: jsonIn(passkey.credential) }
    return { url: '/passkeys/authentication/verify', payload }
  }
  return {
    url: '/token?grant_type=password',
    payload: { ...parseIdentifier(app, email), password, ...captchaToken(app, fields) },
  }
}

/**
 * The sign-in of an organization (SAML), by the domain of the email address: forwards the browser to the identity
 * provider, and returns the reply; otherwise the key of the error's text.
 */
async function startSso(
  app: FastifyInstance,
  { request, reply }: Exchange,
  { email = '', ...fields }: Fields,
  next: string,
): Promise<FastifyReply | string> {
  const [, domain] = /@([^@]+)$/.exec(email.trim()) ?? []
  if (domain === undefined) return 'sso_unknown'
  const flow = linkFlow(app, ensureCookie(app, request, reply), next)
  const response = await callApi(app, request, {
    url: '/sso',
    payload: { domain, ...flow, skip_http_redirect: true, ...captchaToken(app, fields) },
  })
  const url = textIn(response, 'url')
  if (url === undefined) return errorText(response) ?? 'failed'
  // A response whose sign-in is unknown, because it was posted twice, leads back here as well.
  reply.header('set-cookie', returnCookie(app, flow.redirect_to))
  return sendOnward(app, request, reply, url)
}

export const pageRoutes = { signIn, create, ...recoveryRoutes, factor, callback }
