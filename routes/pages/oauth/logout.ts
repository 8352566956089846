import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

import { findKnownClient, readIdTokenSubject } from '../../../modules/oauth-server/index.ts'
import {
  checkForm,
  clearedCookie,
  endPageSession,
  findSignedIn,
} from '../../../modules/page-session/index.ts'
import { getHost, sendOnward, sendPage } from '../../../modules/pages/index.ts'
import { OauthForm, readFormFields } from '../../../schemas/oauth/form.ts'
import { PageOrError } from '../../../schemas/page.ts'
import { NoBody } from '../../../schemas/values/empty.ts'
import { firstValues, ManyQuery } from '../../../schemas/values/query.ts'

const described = {
  tags: ['pages'],
  response: { 200: PageOrError, 303: NoBody, 400: PageOrError },
}

type Parameters = Record<string, string>

/** RP-initiated logout (OpenID Connect RP-Initiated Logout 1.0), confirmed by the user. */
const logout: FastifyPluginAsyncTypebox = async (fastify) => {
  fastify.get(
    '/oauth/logout',
    {
      schema: {
        summary: 'RP-initiated logout (OpenID Connect)',
        querystring: ManyQuery,
        ...described,
      },
    },
    async (request, reply) => begin(fastify, request, reply, firstValues(request.query)),
  )

  fastify.post(
    '/oauth/logout',
    {
      schema: {
        summary: 'RP-initiated logout by POST, and the form of its page',
        body: Type.Union([OauthForm, Type.Null()]),
        ...described,
      },
    },
    async (request, reply) => {
      const fields = readFormFields(request.body ?? {})
      if (fields.form_token === undefined) return redirectToConfirmation(fastify, reply, fields)
      checkForm(fastify, request, fields.form_token)
      const now = new Date()
      const signedIn = await findSignedIn(fastify, request, now)
      if (signedIn) await endPageSession(fastify, signedIn, { ip: request.clientIp, now })
      reply.header('set-cookie', clearedCookie(fastify))
      return leave(fastify, request, reply, fields)
    },
  )
}

/** A link alone must not sign users out: the user confirms, unless there is no session. */
async function begin(
  fastify: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
  parameters: Parameters,
) {
  const signedIn = await findSignedIn(fastify, request, new Date())
  if (!signedIn) return leave(fastify, request, reply, parameters)
  const { session } = signedIn
  const fields = listPassedOn(parameters)
  return sendPage(fastify, request, reply, 'sign-out', {
    title: (say) => say('sign_out'),
    data: () => ({ account: session.email || session.phone || session.id, fields }),
  })
}

/** The form of a client comes without the cookie (SameSite=Lax), which the browser sends after a redirect. */
function redirectToConfirmation(
  { config }: FastifyInstance,
  reply: FastifyReply,
  parameters: Parameters,
) {
  const query = new URLSearchParams(listPassedOn(parameters))
  return reply.redirect(`${config.AUTH_API_EXTERNAL_URL}/oauth/logout?${query}`, 303)
}

async function leave(
  fastify: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
  parameters: Parameters,
) {
  const target = await findTarget(fastify, parameters)
  if (target && !target.isSelfRegistered) return sendOnward(fastify, request, reply, target.url)
  return sendPage(fastify, request, reply, 'message', {
    title: (say) => say('signed_out'),
    data: (say) =>
      // Any client may have registered the target, so the user decides (RFC 9700 §4.11.2).
      target ? { link: target.url, host: getHost(target.url) } : { text: say('close') },
  })
}

/** A URL registered by the client that the request names (§3). */
async function findTarget(fastify: FastifyInstance, parameters: Parameters) {
  const { post_logout_redirect_uri: uri, state } = parameters
  const clientId = await clientIdIn(fastify, parameters)
  if (!uri || !clientId) return undefined
  const client = await findKnownClient(fastify, clientId, new Date()).catch(() => undefined)
  if (!client?.settings.post_logout_redirect_uris?.includes(uri)) return undefined
  const separator = uri.includes('?') ? '&' : '?'
  const url = state ? `${uri}${separator}${new URLSearchParams({ state })}` : uri
  return { url, isSelfRegistered: client.isSelfRegistered }
}

/** The hint must be an ID token of this server for the named client (§2). */
async function clientIdIn(
  fastify: FastifyInstance,
  { client_id: clientId, id_token_hint: hint }: Parameters,
) {
  if (!hint) return clientId
  const audience = await readAudience(fastify, hint)
  return clientId === undefined || clientId === audience ? audience : undefined
}

async function readAudience(fastify: FastifyInstance, hint: string): Promise<string | undefined> {
  if (!(await readIdTokenSubject(fastify, hint))) return undefined
  const claims = JSON.parse(Buffer.from(hint.split('.')[1] ?? '', 'base64url').toString())
  return typeof claims.aud === 'string' ? claims.aud : undefined
}

const passedOn = ['post_logout_redirect_uri', 'client_id', 'id_token_hint', 'state']

function listPassedOn(parameters: Parameters): [name: string, value: string][] {
  return passedOn.flatMap((name): [string, string][] => {
    const value = parameters[name]
    return value ? [[name, value]] : []
  })
}

export default logout
