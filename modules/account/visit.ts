/** A request for a page of the account, by the user who is signed in at the hosted pages. */
import type { FastifyInstance, FastifyReply } from 'fastify'

import { ApiError } from '../../schemas/errors.ts'
import { toUser, type User } from '../../schemas/user.ts'
import { type AccountPageName, accountPages } from '../../ui/account/render.ts'
import type { AccountSay, AccountTextName } from '../../ui/account/texts.ts'
import { type MethodChange, requireFreshProof } from '../access/index.ts'
import { accessTokenFor, type SignedIn } from '../page-session/index.ts'
import {
  type ApiCall,
  type ApiResponse,
  callApi,
  type Exchange,
  sendPageFromSet,
  textIn,
} from '../pages/index.ts'

export type { AccountSay, AccountTextName } from '../../ui/account/texts.ts'

/** The result of the action before the page is shown. */
export interface Outcome {
  done?: AccountTextName | undefined
  error?: AccountTextName | undefined
  status?: number
}

/** The content of a page. */
interface Content {
  title: AccountTextName
  data?: (say: AccountSay, tag: string) => Record<string, unknown>
}

export type Visit = ReturnType<typeof createVisit>

export function createVisit(
  app: FastifyInstance,
  exchange: Exchange,
  signedIn: SignedIn,
  path: string,
  now: Date,
) {
  const { request, reply } = exchange
  const { session } = signedIn
  const base = app.config.AUTH_API_EXTERNAL_URL
  const user: User = toUser(session)
  const { tag } = app.languages.ofReader(request.headers['accept-language'])

  return {
    request,
    reply,
    now,
    user,
    session,
    signedIn,
    hasPassword: Boolean(session.encrypted_password),
    isManaged: session.is_sso_user,

    /** Calls the API as the user. Throws its error. */
    async call(call: Omit<ApiCall, 'token'>): Promise<ApiResponse> {
      const token = await accessTokenFor(app, signedIn, now)
      return requireSuccess(await callApi(app, request, { ...call, token }))
    },

    /** Verifies a code, which needs no token. Throws the error of the API. */
    verify: async (payload: object): Promise<ApiResponse> =>
      requireSuccess(await callApi(app, request, { url: '/verify', payload })),

    /** Throws insufficient_aal or reauthentication_needed. Called before the form is shown. */
    requireProof(change: MethodChange): Promise<void> {
      const auth = { user: session, session, claims: app.jwt.buildClaims(session, session, now) }
      return requireFreshProof(app, app.db, auth, { change }, now)
    },

    show(
      name: AccountPageName,
      { title, data }: Content,
      { done, error, status }: Outcome,
    ): FastifyReply {
      return sendPageFromSet(accountPages, app, exchange, name, {
        title: (say) => say(title),
        next: path,
        status: status ?? (error ? 400 : 200),
        error,
        data: (say) => ({ done, path, isManaged: session.is_sso_user, ...data?.(say, tag) }),
      })
    },

    /** Redirects to a page, which shows the message. */
    leave: (to: string, done?: AccountTextName): FastifyReply =>
      reply.redirect(`${base}${to}${done ? `?done=${done}` : ''}`, 303),
  }
}

function requireSuccess(response: ApiResponse): ApiResponse {
  if (response.status < 400) return response
  const code = textIn(response, 'error_code') ?? 'unexpected_failure'
  throw new ApiError(response.status, code, textIn(response, 'msg') ?? code)
}
