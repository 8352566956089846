/** Builds a page of the account: access, form actions, and the redirects after errors of the API. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyReply } from 'fastify'

import { ApiError } from '../../schemas/errors.ts'
import { OauthForm, readFormFields } from '../../schemas/oauth/form.ts'
import { PageOrError } from '../../schemas/page.ts'
import { NoBody } from '../../schemas/values/empty.ts'
import type { AccountTextName } from '../../ui/account/texts.ts'
import { checkForm, findSignedIn, requiresFactor } from '../page-session/index.ts'
import type { Exchange } from '../pages/index.ts'
import { accountErrorText } from './errors.ts'
import { type AccountDeps, createVisit, type Outcome, type Visit } from './visit.ts'

export type { Outcome } from './visit.ts'
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
  return async (fastify) => {
    const page = makePage(fastify)
    const { path, summary, actions = {} } = page

    fastify.get(
      path,
      { schema: { summary, querystring: Query, ...described } },
      async (request, reply) =>
        visitPage(fastify, page, { request, reply }, (visit) => {
          const done = messageNames.find((name) => name === request.query.done)
          return page.show(visit, { done }, { ...request.query })
        }),
    )

    if (Object.keys(actions).length === 0) return
    fastify.post(
      path,
      { schema: { summary: `Submit: ${summary}`, body: OauthForm, ...described } },
      async (request, reply) => {
        const fields = readFormFields(request.body)
        checkForm(fastify, request, fields.form_token)
        const { action = '' } = fields
        const act = Object.hasOwn(actions, action) ? actions[action] : undefined
        return visitPage(fastify, page, { request, reply }, async (visit) => {
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
  app: AccountDeps,
  page: AccountPage,
  exchange: Exchange,
  act: (visit: Visit) => FastifyReply | Promise<FastifyReply>,
): Promise<FastifyReply> {
  const now = new Date()
  const signedIn = await findSignedIn(app, exchange.request, now)
  if (!signedIn) return redirectToRequiredPage(app, exchange, 'sign-in', page.path)
  if (requiresFactor(signedIn.session)) {
    return redirectToRequiredPage(app, exchange, 'sign-in/factor', page.path)
  }
  const visit = createVisit(app, exchange, signedIn, page.path, now)
  try {
    return await act(visit)
  } catch (error) {
    const target = error instanceof ApiError ? findRequiredPage(error, page) : undefined
    if (!target) throw error
    return redirectToRequiredPage(app, exchange, target, page.path)
  }
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
  { config }: AccountDeps,
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
