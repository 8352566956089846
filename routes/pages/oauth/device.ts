import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

import {
  decideDevice,
  findDataSite,
  lockAnswering,
  type OpenDevice,
  openDevice,
  scopeList,
  toStoredAuthentication,
} from '../../../modules/oauth-server/index.ts'
import { throttleAttempt } from '../../../modules/otp/index.ts'
import {
  answerOnce,
  factorPage,
  findMissingProof,
  findRequiredFactor,
  findSignedIn,
  type SignedIn,
} from '../../../modules/page-session/index.ts'
import {
  listPolicyLinks,
  permissionLines,
  redirectToProof,
  redirectToSignIn,
  sendMessage,
  sendPage,
} from '../../../modules/pages/index.ts'
import { isErrorWithCode } from '../../../schemas/errors.ts'
import { OauthForm, readFormFields } from '../../../schemas/oauth/form.ts'
import { PageOrError } from '../../../schemas/page.ts'
import { NoBody } from '../../../schemas/values/empty.ts'

const Query = Type.Object({ user_code: Type.Optional(Type.String()) })
const described = {
  tags: ['pages'],
  response: { 200: PageOrError, 303: NoBody, 400: PageOrError },
}

type Fields = Record<string, string>

/** The user enters a device's code and approves or denies it (RFC 8628 §3.3). */
const device: FastifyPluginAsyncTypebox = async (app) => {
  const { rateLimits } = app
  const { form } = answerOnce(app)

  app.get(
    '/oauth/device',
    { schema: { summary: 'Device authorization page', querystring: Query, ...described } },
    async (request, reply) => {
      const { user_code: code = '' } = request.query
      const signedIn = await findSignedIn(app, request, new Date())
      return signedIn
        ? showForm(app, request, reply, code)
        : redirectToSignIn(app, reply, getPagePath(code))
    },
  )

  app.post(
    '/oauth/device',
    {
      ...form,
      config: { rateLimit: rateLimits.verify },
      schema: { summary: 'Submit the device authorization page', body: OauthForm, ...described },
    },
    async (request, reply) => {
      const now = new Date()
      const fields = readFormFields(request.body)
      const { user_code: code = '', action } = fields
      const signedIn = await findSignedIn(app, request, now)
      if (!signedIn) return redirectToSignIn(app, reply, getPagePath(code))
      const required = findRequiredFactor(app, signedIn)
      if (required) return reply.redirect(factorPage(app, required, getPagePath(code)), 303)
      const missing = action === 'deny' ? undefined : await findMissingProof(app, signedIn, now)
      if (missing) return redirectToProof(app, reply, getPagePath(code), missing)
      if (action !== 'approve' && action !== 'deny') {
        return lookUp(app, request, reply, code, signedIn, now)
      }
      return answer(app, request, reply, fields, signedIn, now)
    },
  )
}

async function lookUp(
  app: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
  code: string,
  signedIn: SignedIn,
  now: Date,
) {
  const { db } = app
  const attempt = await throttle(app, signedIn, now)
  const opened = await attempt.check(
    db,
    () => db.transaction().execute((trx) => openDevice(trx, code, now)),
    isFound,
  )
  return opened
    ? showConsent(app, request, reply, opened, signedIn)
    : showForm(app, request, reply, code, 'wrong_code')
}

async function answer(
  app: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
  { user_code: code = '', action }: Fields,
  { session }: SignedIn,
  now: Date,
) {
  const { db } = app
  const signIn = toStoredAuthentication({ user: session, session, claims: {} }, now)
  const isApproved = action === 'approve'
  const answering = { user: session, signIn, ip: request.clientIp, isApproved }
  const attempt = await throttle(app, { session }, now)
  const decide = () =>
    db.transaction().execute(async (trx) => {
      await lockAnswering(trx, answering, now)
      const opened = await openDevice(trx, code, now)
      if (opened) await decideDevice(app, trx, opened, answering, now)
      return opened
    })
  const decided = await attempt.check(db, decide, isFound).catch(ifSignedOut)
  if (decided === 'signed_out') return redirectToSignIn(app, reply, getPagePath(code))
  if (!decided) return showForm(app, request, reply, code, 'wrong_code')
  return sendMessage(app, request, reply, {
    title: (say) => say(isApproved ? 'device_allowed' : 'device_denied'),
    text: (say) => say('close'),
  })
}

/** The session ended while the form was processed. */
function ifSignedOut(error: unknown): 'signed_out' {
  if (isErrorWithCode(error, 'session_not_found')) return 'signed_out'
  throw error
}

/** User codes are short: attempts are throttled per user. Throws over_request_rate_limit. */
function throttle(app: FastifyInstance, { session }: Pick<SignedIn, 'session'>, now: Date) {
  const account = `device code of ${session.id}`
  return throttleAttempt(app, app.db, { kind: 'code', account }, now)
}

function showForm(
  app: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
  userCode: string,
  error?: string,
) {
  return sendPage(app, request, reply, 'device', {
    title: (say) => say('device_title'),
    next: '/oauth/device',
    error,
    status: error ? 400 : 200,
    data: () => ({ userCode }),
  })
}

function showConsent(
  app: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
  { device: code, client }: OpenDevice,
  { session }: SignedIn,
) {
  const { config } = app
  const base = config.AUTH_API_EXTERNAL_URL
  const name = client.name ?? client.clientId
  return sendPage(app, request, reply, 'consent', {
    title: (say) => say('consent_title', { client: name }),
    next: getPagePath(code.user_code),
    data: (say) => ({
      account: session.email || session.phone || session.id,
      client: name,
      permissions: permissionLines(say, scopeList(code.scope), {
        resources: code.resources,
        site: findDataSite(app, client, code.resources),
      }),
      warnings: [...(client.isSelfRegistered ? ['unverified_name'] : []), 'device_warning'],
      policies: listPolicyLinks(client),
      host: undefined,
      action: `${base}/oauth/device`,
      fields: [['user_code', code.user_code]],
    }),
  })
}

const isFound = (opened: OpenDevice | undefined): boolean => opened !== undefined

const getPagePath = (code: string) => `/oauth/device?user_code=${encodeURIComponent(code)}`

export default device
