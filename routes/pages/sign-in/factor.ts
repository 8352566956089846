import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

import {
  accessTokenFor,
  answerOnce,
  findSignedIn,
  type SignedIn,
} from '../../../modules/page-session/index.ts'
import {
  type ApiResponse,
  callApi,
  errorText,
  jsonIn,
  readNext,
  redirectToSignIn,
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
const factor: FastifyPluginAsyncTypebox = async (app) => {
  const { form } = answerOnce(app)

  app.get(
    '/sign-in/factor',
    { schema: { summary: 'Second factor page', querystring: Query, ...described } },
    async (request, reply) => {
      const next = readNext(request.query.next)
      const signedIn = await findSignedIn(app, request, new Date())
      return signedIn
        ? showForm(app, request, reply, signedIn, { next })
        : redirectToSignIn(app, reply, next)
    },
  )

  app.post(
    '/sign-in/factor',
    {
      ...form,
      schema: { summary: 'Submit the second factor page', body: OauthForm, ...described },
    },
    async (request, reply) => {
      const now = new Date()
      const fields = readFormFields(request.body)
      const next = readNext(fields.next)
      const signedIn = await findSignedIn(app, request, now)
      if (!signedIn) return redirectToSignIn(app, reply, next)
      const token = await accessTokenFor(app, signedIn, now)
      if (fields.action === 'challenge') {
        const challenged = await createChallenge(app, request, fields, token)
        const challenge = challengeIn(challenged, fields)
        return showForm(app, request, reply, signedIn, {
          next,
          challenge,
          error: errorText(challenged),
        })
      }
      const response = await attempt(app, request, fields, token)
      const error = errorText(response)
      const isRecovery = fields.action === 'recovery'
      if (error) return showForm(app, request, reply, signedIn, { next, error, isRecovery })
      return sendToNext(app, request, reply, next)
    },
  )
}

/** Verifies the typed code or the signature. */
async function attempt(
  app: FastifyInstance,
  request: FastifyRequest,
  fields: Fields,
  token: string,
): Promise<ApiResponse> {
  const { action, code = '', credential } = fields
  if (action === 'recovery') {
    const payload = { code: code.trim() }
    return callApi(app, request, { url: '/factors/recovery-codes/verify', payload, token })
  }
  // TOTP codes need no challenge.
  const challenged =
    action === 'totp' ? await createChallenge(app, request, fields, token) : undefined
  if (challenged && challenged.status >= 400) return challenged
  const challenge_id = challenged ? textIn(challenged, 'id') : fields.challenge_id
  const answer = action === 'key' ? keyResponse(credential) : { code: code.trim() }
  const payload = { challenge_id, ...answer }
  const params = { id: fields.factor_id ?? '' }
  return callApi(app, request, { url: '/factors/:id/verify', params, payload, token })
}

function createChallenge(
  app: FastifyInstance,
  request: FastifyRequest,
  { factor_id: id = '' }: Fields,
  token: string,
): Promise<ApiResponse> {
  const url = '/factors/:id/challenge'
  return callApi(app, request, { url, params: { id }, payload: {}, token })
}

function showForm(
  app: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
  { session }: SignedIn,
  shown: {
    next: string
    challenge?: Challenge | undefined
    error?: string | undefined
    isRecovery?: boolean
  },
) {
  const { next, challenge, error, isRecovery = false } = shown
  const verified = session.factors.filter(({ status }) => status === 'verified')
  const factors = verified.map(({ id, factor_type: type }) => {
    const own = challenge?.factorId === id ? challenge : undefined
    return { id, type, challengeId: own?.id, options: own?.options }
  })
  return sendPage(app, request, reply, 'factor', {
    title: (say) => say('factor_title'),
    next,
    error,
    status: error ? 400 : 200,
    data: () => ({
      factors: factors.filter(({ type }) => kinds.includes(type)),
      hasRecoveryCodes: factors.some(({ type }) => type === 'recovery_code'),
      isRecovery,
    }),
  })
}

const kinds: readonly string[] = ['totp', 'phone', 'webauthn']

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
