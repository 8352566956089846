import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

import {
  accessTokenFor,
  checkForm,
  findSignedIn,
  type SignedIn,
} from '../../../modules/page-session/index.ts'
import {
  type ApiResponse,
  callApi,
  errorText,
  jsonIn,
  readNext,
  sendPage,
  sendToNext,
  textIn,
} from '../../../modules/pages/index.ts'
import { OauthForm, readFormFields } from '../../../schemas/oauth/form.ts'
import { PageOrError } from '../../../schemas/page.ts'
import { NoBody } from '../../../schemas/values/empty.ts'
import { isRecord } from '../../../schemas/values/record.ts'

const Query = Type.Object({ next: Type.Optional(Type.String()) })
const described = {
  tags: ['pages'],
  response: { 200: PageOrError, 303: NoBody, 400: PageOrError },
}

type Fields = Record<string, string>

interface Challenge {
  factorId: string
  id: string
  /** JSON, for a security key. */
  options?: string
}

/** Verifies the second factor of a session created on the pages. */
const factor: FastifyPluginAsyncTypebox = async (fastify) => {
  fastify.get(
    '/sign-in/factor',
    { schema: { summary: 'Second factor page', querystring: Query, ...described } },
    async (request, reply) => {
      const next = readNext(request.query.next)
      const signedIn = await findSignedIn(fastify, request, new Date())
      return signedIn
        ? showForm(fastify, request, reply, signedIn, { next })
        : signInFirst(fastify, reply, next)
    },
  )

  fastify.post(
    '/sign-in/factor',
    { schema: { summary: 'Submit the second factor page', body: OauthForm, ...described } },
    async (request, reply) => {
      const now = new Date()
      const fields = readFormFields(request.body)
      checkForm(fastify, request, fields.form_token)
      const next = readNext(fields.next)
      const signedIn = await findSignedIn(fastify, request, now)
      if (!signedIn) return signInFirst(fastify, reply, next)
      const token = await accessTokenFor(fastify, signedIn, now)
      if (fields.action === 'challenge') {
        const challenged = await createChallenge(fastify, request, fields, token)
        const challenge = challengeIn(challenged, fields)
        return showForm(fastify, request, reply, signedIn, {
          next,
          challenge,
          error: errorText(challenged),
        })
      }
      const response = await attempt(fastify, request, fields, token)
      const error = errorText(response)
      if (error) return showForm(fastify, request, reply, signedIn, { next, error })
      return sendToNext(fastify, request, reply, next)
    },
  )
}

/** Verifies the typed code or the signature. */
async function attempt(
  fastify: FastifyInstance,
  request: FastifyRequest,
  fields: Fields,
  token: string,
): Promise<ApiResponse> {
  const { action, code = '', credential } = fields
  if (action === 'recovery') {
    const payload = { code: code.trim() }
    return callApi(fastify, request, { url: '/factors/recovery-codes/verify', payload, token })
  }
  // TOTP codes need no challenge.
  const challenged =
    action === 'totp' ? await createChallenge(fastify, request, fields, token) : undefined
  if (challenged && challenged.status >= 400) return challenged
  const challenge_id = challenged ? textIn(challenged, 'id') : fields.challenge_id
  const answer = action === 'key' ? keyResponse(credential) : { code: code.trim() }
  const url = `/factors/${idIn(fields)}/verify`
  return callApi(fastify, request, { url, payload: { challenge_id, ...answer }, token })
}

function createChallenge(
  fastify: FastifyInstance,
  request: FastifyRequest,
  fields: Fields,
  token: string,
): Promise<ApiResponse> {
  const url = `/factors/${idIn(fields)}/challenge`
  return callApi(fastify, request, { url, payload: {}, token })
}

function signInFirst({ config }: FastifyInstance, reply: FastifyReply, next: string) {
  const base = config.AUTH_API_EXTERNAL_URL
  return reply.redirect(`${base}/sign-in?next=${encodeURIComponent(next)}`, 303)
}

function showForm(
  fastify: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
  { session }: SignedIn,
  shown: { next: string; challenge?: Challenge | undefined; error?: string | undefined },
) {
  const { next, challenge, error } = shown
  const verified = session.factors.filter(({ status }) => status === 'verified')
  const factors = verified.map(({ id, factor_type: type }) => {
    const own = challenge?.factorId === id ? challenge : undefined
    return { id, type, challengeId: own?.id, options: own?.options }
  })
  return sendPage(fastify, request, reply, 'factor', {
    title: (say) => say('factor_title'),
    next,
    error,
    status: error ? 400 : 200,
    data: () => ({ factors: factors.filter(({ type }) => kinds.includes(type)) }),
  })
}

const kinds: readonly string[] = ['totp', 'phone', 'webauthn']

const idIn = ({ factor_id = '' }: Fields): string => encodeURIComponent(factor_id)

function keyResponse(credential: string | undefined) {
  return { webauthn: { credential_response: jsonIn(credential) } }
}

function challengeIn(challenged: ApiResponse, { factor_id = '' }: Fields): Challenge | undefined {
  const id = textIn(challenged, 'id')
  if (id === undefined) return undefined
  const { webauthn } = challenged.body
  const given = isRecord(webauthn) ? webauthn.credential_options : undefined
  const options = isRecord(given) ? { options: given.publicKey, challenge_id: id } : undefined
  return { factorId: factor_id, id, ...(options && { options: JSON.stringify(options) }) }
}

export default factor
