import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

import { findKnownClient, readIdTokenSubject } from '../../../modules/oauth-server/index.ts'
import {
  answerOnce,
  clearedCookie,
  endPageSession,
  findSignedIn,
} from '../../../modules/page-session/index.ts'
import {
  sendMessage,
  sendOnward,
  sendPage,
  wayTo,
  wayToSignIn,
} from '../../../modules/pages/index.ts'
import { OauthForm, readFormFields } from '../../../schemas/oauth/form.ts'
import { PageOrError } from '../../../schemas/page.ts'
import { NoBody } from '../../../schemas/values/empty.ts'
import { firstValues, ManyQuery } from '../../../schemas/values/query.ts'

const Form = Type.Union([OauthForm, Type.Null()])
const described = {
  tags: ['pages'],
  response: { 200: PageOrError, 303: NoBody, 400: PageOrError },
}

type Parameters = Record<string, string>

/** RP-initiated logout (OpenID Connect RP-Initiated Logout 1.0), confirmed by the user. */
const logout: FastifyPluginAsyncTypebox = async (app) => {
  const { form } = answerOnce(app)

  app.get(
    '/oauth/logout',
    {
      schema: {
        summary: 'RP-initiated logout (OpenID Connect)',
        querystring: ManyQuery,
        ...described,
      },
    },
    async (request, reply) => begin(app, request, reply, firstValues(request.query)),
  )

  app.post(
    '/oauth/logout',
    {
      onSend: form.onSend,
      preHandler: async (request, reply) => {
        if (isOwnForm(readFormFields(request.body ?? {}))) return form.preHandler(request, reply)
      },
      schema: {
        summary: 'RP-initiated logout by POST, and the form of its page',
        body: Form,
        ...described,
      },
    },
    async (request, reply) => {
      const fields = readFormFields(request.body ?? {})
      if (!isOwnForm(fields)) return redirectToConfirmation(app, reply, fields)
      const now = new Date()
      const signedIn = await findSignedIn(app, request, now)
      if (signedIn) await endPageSession(app, signedIn, { ip: request.clientIp, now })
      reply.header('set-cookie', clearedCookie(app))
      return leave(app, request, reply, fields)
    },
  )
}

/** Of our page, not of a client. */
const isOwnForm = ({ form_token: token }: Parameters): boolean => token !== undefined

/** A link alone must not sign users out: the user confirms, unless there is no session. */
async function begin(
  app: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
  parameters: Parameters,
) {
  const signedIn = await findSignedIn(app, request, new Date())
  if (!signedIn) return leave(app, request, reply, parameters)
  const { session } = signedIn
  const fields = listPassedOn(parameters)
  return sendPage(app, request, reply, 'sign-out', {
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
  app: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
  parameters: Parameters,
) {
  const target = await findTarget(app, parameters)
  if (target && !target.isSelfRegistered) return sendOnward(app, request, reply, target.url)
  return sendMessage(app, request, reply, {
    title: (say) => say('signed_out'),
    // Any client may have registered the target, so the user decides (RFC 9700 §4.11.2).
    wayOn: target ? wayTo(target.url) : wayToSignIn(app),
  })
}

/** A URL registered by the client that the request names (§3). */
async function findTarget(app: FastifyInstance, parameters: Parameters) {
  const { post_logout_redirect_uri: uri, state } = parameters
  const clientId = await clientIdIn(app, parameters)
  if (!uri || !clientId) return undefined
  const client = await findKnownClient(app, clientId, new Date()).catch(() => undefined)
  if (!client?.settings.post_logout_redirect_uris?.includes(uri)) return undefined
  const separator = uri.includes('?') ? '&' : '?'
  const url = state ? `${uri}${separator}${new URLSearchParams({ state })}` : uri
  return { url, isSelfRegistered: client.isSelfRegistered }
}

/** The hint must be an ID token of this server for the named client (§2). */
async function clientIdIn(
  app: FastifyInstance,
  { client_id: clientId, id_token_hint: hint }: Parameters,
) {
  if (!hint) return clientId
  const audience = await readAudience(app, hint)
  return clientId === undefined || clientId === audience ? audience : undefined
}

async function readAudience(app: FastifyInstance, hint: string): Promise<string | undefined> {
  if (!(await readIdTokenSubject(app, hint))) return undefined
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
