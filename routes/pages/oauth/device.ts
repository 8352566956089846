import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

import {
  decideDevice,
  type OpenDevice,
  openDevice,
  scopeList,
  toStoredAuthentication,
} from '../../../modules/oauth-server/index.ts'
import { throttleAttempt } from '../../../modules/otp/index.ts'
import {
  checkForm,
  factorPage,
  findRequiredFactor,
  findSignedIn,
  type SignedIn,
} from '../../../modules/page-session/index.ts'
import { listPolicyLinks, permissionLines, sendPage } from '../../../modules/pages/index.ts'
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
const device: FastifyPluginAsyncTypebox = async (fastify) => {
  const { rateLimits } = fastify

  fastify.get(
    '/oauth/device',
    { schema: { summary: 'Device authorization page', querystring: Query, ...described } },
    async (request, reply) => {
      const { user_code: code = '' } = request.query
      const signedIn = await findSignedIn(fastify, request, new Date())
      return signedIn ? showForm(fastify, request, reply, code) : signInFirst(fastify, reply, code)
    },
  )

  fastify.post(
    '/oauth/device',
    {
      config: { rateLimit: rateLimits.verify },
      schema: { summary: 'Submit the device authorization page', body: OauthForm, ...described },
    },
    async (request, reply) => {
      const now = new Date()
      const fields = readFormFields(request.body)
      checkForm(fastify, request, fields.form_token)
      const { user_code: code = '', action } = fields
      const signedIn = await findSignedIn(fastify, request, now)
      if (!signedIn) return signInFirst(fastify, reply, code)
      const required = findRequiredFactor(fastify, signedIn)
      if (required) return reply.redirect(factorPage(fastify, required, getPagePath(code)), 303)
      if (action !== 'approve' && action !== 'deny') {
        return lookUp(fastify, request, reply, code, signedIn, now)
      }
      return answer(fastify, request, reply, fields, signedIn, now)
    },
  )
}

async function lookUp(
  fastify: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
  code: string,
  signedIn: SignedIn,
  now: Date,
) {
  const { db } = fastify
  const attempt = await throttle(fastify, signedIn, now)
  const opened = await attempt.check(
    db,
    () => db.transaction().execute((trx) => openDevice(trx, code, now)),
    isFound,
  )
  return opened
    ? showConsent(fastify, request, reply, opened, signedIn)
    : showForm(fastify, request, reply, code, 'wrong_code')
}

async function answer(
  fastify: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
  { user_code: code = '', action }: Fields,
  { session }: SignedIn,
  now: Date,
) {
  const { db } = fastify
  const signIn = toStoredAuthentication({ user: session, session, claims: {} }, now)
  const isApproved = action === 'approve'
  const answering = { user: session, signIn, ip: request.clientIp, isApproved }
  const attempt = await throttle(fastify, { session }, now)
  const decide = () =>
    db.transaction().execute(async (trx) => {
      const opened = await openDevice(trx, code, now)
      if (opened) await decideDevice(fastify, trx, opened, answering, now)
      return opened
    })
  const decided = await attempt.check(db, decide, isFound)
  if (!decided) return showForm(fastify, request, reply, code, 'wrong_code')
  return sendPage(fastify, request, reply, 'message', {
    title: (say) => say(isApproved ? 'device_allowed' : 'device_denied'),
    data: (say) => ({ text: say('close') }),
  })
}

/** User codes are short: attempts are throttled per user. Throws over_request_rate_limit. */
function throttle({ db, otp }: FastifyInstance, { session }: Pick<SignedIn, 'session'>, now: Date) {
  const account = `device code of ${session.id}`
  return throttleAttempt(otp, db, { kind: 'code', account }, now)
}

function showForm(
  fastify: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
  userCode: string,
  error?: string,
) {
  return sendPage(fastify, request, reply, 'device', {
    title: (say) => say('device_title'),
    next: '/oauth/device',
    error,
    status: error ? 400 : 200,
    data: () => ({ userCode }),
  })
}

function showConsent(
  fastify: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
  { device: code, client }: OpenDevice,
  { session }: SignedIn,
) {
  const { config } = fastify
  const base = config.AUTH_API_EXTERNAL_URL
  const name = client.name ?? client.clientId
  return sendPage(fastify, request, reply, 'consent', {
    title: (say) => say('consent_title', { client: name }),
    next: getPagePath(code.user_code),
    data: (say) => ({
      account: session.email || session.phone || session.id,
      client: name,
      permissions: permissionLines(say, scopeList(code.scope), code.resources),
      warnings: [...(client.isSelfRegistered ? ['unverified_name'] : []), 'device_warning'],
      policies: listPolicyLinks(client),
      host: undefined,
      action: `${base}/oauth/device`,
      fields: [['user_code', code.user_code]],
    }),
  })
}

function signInFirst({ config }: FastifyInstance, reply: FastifyReply, code: string) {
  const base = config.AUTH_API_EXTERNAL_URL
  return reply.redirect(`${base}/sign-in?next=${encodeURIComponent(getPagePath(code))}`, 303)
}

const isFound = (opened: OpenDevice | undefined): boolean => opened !== undefined

const getPagePath = (code: string) => `/oauth/device?user_code=${encodeURIComponent(code)}`

export default device
