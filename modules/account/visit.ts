/** A request for a page of the account, by the user who is signed in at the hosted pages, and what its pages format. */
import type { FastifyInstance, FastifyReply } from 'fastify'

import { ApiError, otpExpired } from '../../schemas/errors.ts'
import { toUser, type User } from '../../schemas/user.ts'
import { type AccountPageName, accountPages } from '../../ui/account/render.ts'
import type { AccountSay, AccountTextName } from '../../ui/account/texts.ts'
import { type MethodChange, requireFreshProof } from '../access/index.ts'
import {
  accessTokenFor,
  findSignedIn,
  type SignedIn,
  startPageSession,
} from '../page-session/index.ts'
import {
  type ApiCall,
  type ApiResponse,
  callApi,
  type Exchange,
  sendPageFromSet,
  textIn,
} from '../pages/index.ts'
import { getDeviceName } from '../sessions/index.ts'

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

/**
 * The browser keeps its session, with the second factor that was verified in it, unless the change has revoked it.
 * Throws otp_expired when the code belongs to another user.
 */
export async function settleSession(
  app: FastifyInstance,
  { request, reply }: Exchange,
  userId: string,
  response: ApiResponse,
): Promise<void> {
  const token = textIn(response, 'access_token')
  if (!token) return
  const now = new Date()
  const { sub, session_id: made = '' } = await app.jwt.verify(token)
  const current = await findSignedIn(app, request, now)
  if (sub === userId && current?.session.id !== userId) {
    reply.header('set-cookie', await startPageSession(app, made, now))
    return
  }
  await callApi(app, request, { url: '/logout?scope=local', token })
  if (sub !== userId) throw otpExpired()
}

/** Whether users can have a phone number. */
export const phonesAllowed = ({ config, sms }: FastifyInstance): boolean =>
  config.AUTH_EXTERNAL_PHONE_ENABLED || config.AUTH_SMS_AUTOCONFIRM || sms.enabled

const formats = new Map<string, Intl.DateTimeFormat>()

/** Date and time in UTC: the server does not know the time zone of the browser. Empty for anything but a timestamp. */
export function formatTime(tag: string, timestamp: unknown): string {
  const time = typeof timestamp === 'string' ? new Date(timestamp) : undefined
  if (!time || Number.isNaN(time.getTime())) return ''
  return `${getFormat(tag).format(time)} UTC`
}

function getFormat(tag: string): Intl.DateTimeFormat {
  const known = formats.get(tag)
  if (known) return known
  const style = { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' } as const
  const made = new Intl.DateTimeFormat(tag, style)
  formats.set(tag, made)
  return made
}

/** Browser and system of a session. */
export function formatDevice(say: AccountSay, userAgent: unknown): string {
  const name = typeof userAgent === 'string' ? getDeviceName(userAgent) : ''
  return name || say('unknown_device')
}
