/** The account page: each of its pages is a form over the API, with the rules and messages of the API. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

import { ApiError } from '../../schemas/errors.ts'
import { OauthForm, readFormFields } from '../../schemas/oauth/form.ts'
import { PageOrError } from '../../schemas/page.ts'
import { NoBody } from '../../schemas/values/empty.ts'
import { isRecord } from '../../schemas/values/record.ts'
import type { AccountTextName } from '../../ui/account/texts.ts'
import { answerOnce, findSignedIn, requiresFactor } from '../page-session/index.ts'
import { type Exchange, errorTextName, readNext, readReason } from '../pages/index.ts'
import { createVisit, type Outcome, type Visit } from './visit.ts'

export type { AccountSay, AccountTextName, Outcome, Visit } from './visit.ts'
export { formatDevice, formatTime, phonesAllowed, settleSession } from './visit.ts'

// Texts of the account page for errors of the API.

const texts: Record<string, AccountTextName> = {
  email_exists: 'email_taken',
  email_address_not_authorized: 'email_taken',
  email_conflict_identity_not_deletable: 'email_taken',
  phone_exists: 'phone_taken',
  username_taken: 'username_taken',
  username_invalid: 'username_invalid',
  username_changed_recently: 'username_recent',
  mfa_verified_factor_exists: 'phone_taken',
  identity_already_exists: 'identity_taken',
  current_password_invalid: 'wrong_password',
  current_password_required: 'need_password',
  reauthentication_not_valid: 'wrong_code',
  mfa_challenge_expired: 'wrong_code',
  single_identity_not_deletable: 'last_method',
  mfa_recovery_codes_sole_factor: 'codes_first',
  user_sso_managed: 'managed',
  mfa_factor_name_conflict: 'name_taken',
  too_many_enrolled_mfa_factors: 'limit_reached',
  too_many_passkeys: 'limit_reached',
  validation_failed: 'bad_entry',
  metadata_too_large: 'bad_entry',
  phone_provider_disabled: 'bad_entry',
  sms_send_failed: 'send_failed',
  email_provider_not_configured: 'send_failed',
  webauthn_challenge_expired: 'key_failed',
  webauthn_challenge_not_found: 'key_failed',
  webauthn_credential_exists: 'key_failed',
  webauthn_verification_failed: 'key_failed',
}

/** Returns the account page's text for an error code. */
const accountErrorText = (errorCode: string): AccountTextName =>
  (Object.hasOwn(texts, errorCode) && texts[errorCode]) || errorTextName(errorCode)

export type AccountFields = Readonly<Record<string, string>>
export type Action = (visit: Visit, fields: AccountFields) => Promise<FastifyReply>

export interface AccountPage {
  path: string
  summary: string
  show: (
    visit: Visit,
    outcome: Outcome,
    query: AccountFields,
  ) => FastifyReply | Promise<FastifyReply>
  /** The actions of the page's forms, by the value of the submit button. */
  actions?: Readonly<Record<string, Action>>
}

const Query = Type.Object({
  done: Type.Optional(Type.String()),
  failed: Type.Optional(Type.String()),
  next: Type.Optional(Type.String()),
})
const described = {
  tags: ['pages'],
  response: { 200: PageOrError, 303: NoBody, 400: PageOrError },
}

/** The messages that a link may select in its query. */
const messageNames: readonly AccountTextName[] = ['saved', 'email_half', 'password_saved']

/** Errors that mean that the session or the user no longer exists. */
const gone = ['bad_jwt', 'session_not_found', 'session_expired', 'user_not_found', 'user_banned']

/** Adds the routes of a page. */
export function addAccountPage(
  makePage: (app: FastifyInstance) => AccountPage,
): FastifyPluginAsyncTypebox {
  return async (app) => {
    const page = makePage(app)
    const { path, summary, actions = {} } = page

    app.get(
      path,
      { schema: { summary, querystring: Query, ...described } },
      async (request, reply) =>
        visitPage(app, page, { request, reply }, (visit) => {
          const done = messageNames.find((name) => name === request.query.done)
          const { failed } = request.query
          const error = failed && (readReason(failed) ?? accountErrorText(failed))
          return page.show(visit, { done, ...(error && { error, status: 200 }) }, request.query)
        }),
    )

    if (Object.keys(actions).length === 0) return
    app.post(
      path,
      {
        ...answerOnce(app).form,
        schema: { summary: `Submit: ${summary}`, body: OauthForm, ...described },
      },
      async (request, reply) => {
        const fields = readFormFields(request.body)
        const { action = '' } = fields
        const act = Object.hasOwn(actions, action) ? actions[action] : undefined
        return visitPage(app, page, { request, reply }, async (visit) => {
          if (!act) return page.show(visit, { error: 'bad_entry' }, fields)
          return act(visit, fields).catch((error) => showError(page, visit, error, fields))
        })
      },
    )
  }
}

/**
 * Shows the page to the signed-in user. Redirects to the sign-in without a session, or when a second factor is
 * required.
 */
async function visitPage(
  app: FastifyInstance,
  page: AccountPage,
  exchange: Exchange,
  act: (visit: Visit) => FastifyReply | Promise<FastifyReply>,
): Promise<FastifyReply> {
  const now = new Date()
  const signedIn = await findSignedIn(app, exchange.request, now)
  const path = getReturnPath(page, exchange.request)
  if (!signedIn) return redirectToRequiredPage(app, exchange, 'sign-in', path)
  if (requiresFactor(signedIn.session)) {
    return redirectToRequiredPage(app, exchange, 'sign-in/factor', path)
  }
  const visit = createVisit(app, exchange, signedIn, page.path, now)
  try {
    return await act(visit)
  } catch (error) {
    const target = error instanceof ApiError ? findRequiredPage(error, page) : undefined
    if (!target) throw error
    return redirectToRequiredPage(app, exchange, target, path)
  }
}

/** The page with the one that it continues at. */
function getReturnPath({ path }: AccountPage, { query, body }: FastifyRequest): string {
  const sent = { ...(isRecord(query) && query), ...(isRecord(body) && body) }
  const next = readNext(sent.next)
  return next && next !== path ? `${path}?next=${encodeURIComponent(next)}` : path
}

/** Returns the page that the user must complete first. */
function findRequiredPage(
  { errorCode, status }: ApiError,
  { path }: AccountPage,
): string | undefined {
  // A 404 concerns another session, which a form named.
  if (status !== 404 && gone.includes(errorCode)) return 'sign-in'
  if (errorCode === 'insufficient_aal') return 'sign-in/factor'
  if (errorCode === 'reauthentication_needed') return 'account/confirm'
  const isAtFactors = path === '/account/factors'
  return errorCode === 'mfa_enrollment_required' && !isAtFactors ? 'account/factors' : undefined
}

function redirectToRequiredPage(
  { config }: FastifyInstance,
  { reply }: Exchange,
  page: string,
  next: string,
): FastifyReply {
  const url = `${config.AUTH_API_EXTERNAL_URL}/${page}?next=${encodeURIComponent(next)}`
  return reply.redirect(url, 303)
}

/** Shows the page again with the error. Rethrows one that another page must resolve first, and those of the server. */
function showError(page: AccountPage, visit: Visit, error: unknown, fields: AccountFields) {
  if (!(error instanceof ApiError) || error.status >= 500 || findRequiredPage(error, page)) {
    throw error
  }
  const { errorCode, status } = error
  return page.show(
    visit,
    { error: accountErrorText(errorCode), status: shownStatus(status) },
    fields,
  )
}

/** A 404 concerns the object that a form names, not the page. */
const shownStatus = (status: number): number => (status === 429 ? 429 : 400)
