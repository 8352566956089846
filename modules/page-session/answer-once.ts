/**
 * A form is answered once. A second submission of the same page with the same values (a double click, a reload) gets
 * the answer of the first one, also while that one runs, and on another replica. Otherwise the browser would show what
 * the second one got: a used code, a limit on messages, or a cookie that the first one replaced.
 */
import { createHmac } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { deflateRawSync, inflateRawSync } from 'node:zlib'

import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { parseSetCookie } from 'cookie'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

import {
  claimPageSubmission,
  deletePageSubmission,
  findPageSubmission,
  type PageSubmission,
  storePageAnswer,
} from '../../db/oauth-server/page-sessions.ts'
import { crossSiteForm } from '../../schemas/errors.ts'
import { OauthForm, readFormFields } from '../../schemas/oauth/form.ts'
import { browserId, checkSite, getCookieName, hashOfCookie, isTokenOfBrowser } from './cookie.ts'

const purpose = 'submissions of hosted pages'

/** Rows of the table. When more forms are submitted at a time, some replace others, which can then be repeated. */
const slots = 2 ** 14
/** Longer than a browser needs for a second click, and not longer than an authorization code is valid. */
const acceptedMs = 60_000
/** Shorter, because users remove the cause elsewhere, for example by opening a link, and go back. */
const rejectedMs = 10_000
const maxPauseMs = 400

/**
 * The hooks of a route: `form` where forms are submitted, `visit` where a link with a code is opened, `link` for the
 * form that confirms an emailed link.
 */
export function answerOnce(app: FastifyInstance) {
  const { repeat, onSend } = openSubmissions(app)

  /** Throws validation_failed for a form that was not submitted from a recent page of this browser. */
  async function checkAndRepeat(request: FastifyRequest, reply: FastifyReply) {
    checkSite(app, request)
    const fields = Value.Check(OauthForm, request.body) ? readFormFields(request.body) : {}
    // When the first answer has replaced the cookie, the token is valid no longer.
    const mayClaim = isTokenOfBrowser(app, request, fields.form_token)
    if (await repeat({ request, reply }, fields, { mayClaim })) return reply
    if (!mayClaim) throw crossSiteForm()
  }

  async function repeatVisit(request: FastifyRequest, reply: FastifyReply) {
    if (await repeat({ request, reply }, request.query, { mayClaim: true })) return reply
  }

  /** The link authorizes the form, so one without a token of this browser is processed too, each time. */
  async function repeatLink(request: FastifyRequest, reply: FastifyReply) {
    const fields = Value.Check(OauthForm, request.body) ? readFormFields(request.body) : {}
    if (!isTokenOfBrowser(app, request, fields.form_token)) return
    if (await repeat({ request, reply }, fields, { mayClaim: true })) return reply
  }

  return {
    form: { preHandler: checkAndRepeat, onSend },
    visit: { preHandler: repeatVisit, onSend },
    link: { preHandler: repeatLink, onSend },
  }
}

function openSubmissions(app: FastifyInstance) {
  const { db, config } = app
  const claimed = new WeakMap<FastifyRequest, PageSubmission>()
  // A process that ended without an answer does not prevent another submission of the form.
  const claimMs = (config.AUTH_API_MAX_REQUEST_DURATION + 5) * 1000

  return {
    /** Whether an earlier answer was sent. Without `mayClaim`, this request is never the first one. */
    async repeat(
      exchange: { request: FastifyRequest; reply: FastifyReply },
      content: unknown,
      { mayClaim }: { mayClaim: boolean },
    ): Promise<boolean> {
      const { request } = exchange
      const submission = identify(app, [request.method, request.routeOptions.url, content])
      for (let pauseMs = 25; ; pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
        const now = new Date()
        const expiresAt = new Date(now.getTime() + claimMs)
        if (mayClaim && (await claimPageSubmission(db, submission, expiresAt, now))) {
          claimed.set(request, submission)
          return false
        }
        const found = await findPageSubmission(db, submission, now)
        if (found?.answer) return sendAgain(app, submission.id, found.answer, exchange)
        if (!mayClaim) return false
        await pause(pauseMs)
      }
    },

    /** Stores the answer of a first submission. */
    async onSend(request: FastifyRequest, reply: FastifyReply, payload: unknown) {
      const submission = claimed.get(request)
      if (!submission) return payload
      claimed.delete(request)
      const answer = encodeAnswer(app, submission.id, request, reply, payload)
      const keptMs = reply.statusCode < 400 ? acceptedMs : rejectedMs
      const stored = answer
        ? storePageAnswer(db, submission, answer, new Date(Date.now() + keptMs))
        : deletePageSubmission(db, submission)
      // The form has been processed, so its answer is sent also when it cannot be stored.
      await stored.catch((error) => request.log.warn({ err: error }, 'the answer was not stored'))
      return payload
    },
  }
}

/** Of the values, which include passwords, only their common HMAC is stored. */
function identify({ encryption }: FastifyInstance, content: unknown): PageSubmission {
  const hmac = createHmac('sha256', encryption.deriveKey(purpose))
  const digest = hmac.update(JSON.stringify(content)).digest()
  return { slot: digest.readUInt32BE(0) % slots, id: digest.toString('base64url') }
}

// The answer of a form as it is stored: compressed and encrypted, with the cookies of the browser that got it.

const Answer = Type.Object({
  status: Type.Integer(),
  headers: Type.Record(Type.String(), Type.Union([Type.String(), Type.Array(Type.String())])),
  body: Type.String(),
  /** Hashes of the cookie before and after the answer. */
  cookies: Type.Array(Type.String()),
})

type Answer = Static<typeof Answer>

const what = 'The answer of a submitted form'

/** Larger answers change nothing, such as the export of the user's data. */
const maxBytes = 32_768

/** Headers that belong to an answer. Others belong to the request that gets it. */
const ownHeaders = [
  'content-type',
  'content-security-policy',
  'x-frame-options',
  'referrer-policy',
  'vary',
  'cross-origin-opener-policy',
  'cache-control',
  'set-cookie',
  'location',
  'retry-after',
]

/** Undefined for an answer that is not repeated: an error of the server, or a large one. */
function encodeAnswer(
  app: FastifyInstance,
  id: string,
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
): string | undefined {
  const body = payload ?? ''
  if (reply.statusCode >= 500 || typeof body !== 'string') return undefined
  const headers: Answer['headers'] = {}
  for (const name of ownHeaders) {
    const value = reply.getHeader(name)
    if (value !== undefined) headers[name] = Array.isArray(value) ? value : String(value)
  }
  const before = browserId(app, request) ?? ''
  const after = cookieAfter(app, headers['set-cookie']) ?? before
  const cookies = [hashOfCookie(before), hashOfCookie(after)]
  const answer: Answer = { status: reply.statusCode, headers, body, cookies }
  const packed = deflateRawSync(JSON.stringify(answer))
  return packed.length > maxBytes
    ? undefined
    : app.encryption.encrypt(id, packed.toString('base64'))
}

/** The cookie that the answer sets; empty when it clears it, undefined when it sets none. */
function cookieAfter(app: FastifyInstance, set: string | string[] | undefined): string | undefined {
  const name = getCookieName(app)
  const cookies = [set ?? []].flat().map((one) => parseSetCookie(one))
  return cookies.findLast((cookie) => cookie.name === name)?.value
}

/** Sends the answer again, to the browser that got it or was to get it. Returns false for any other. */
function sendAgain(
  app: FastifyInstance,
  id: string,
  stored: string,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
): boolean {
  const packed = Buffer.from(app.encryption.decrypt(id, stored, what), 'base64')
  const answer: unknown = JSON.parse(inflateRawSync(packed).toString())
  if (!Value.Check(Answer, answer)) return false
  if (!answer.cookies.includes(hashOfCookie(browserId(app, request) ?? ''))) return false
  void reply.status(answer.status).headers(answer.headers).send(answer.body)
  return true
}
