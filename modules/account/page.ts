/** Makes a page of the account: who may see it, what its forms do, and where errors of the API lead. */
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
  /** What the forms of the page do, by the value of their button. */
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

/** Only these are said because a link asks for it. */
const messageNames: readonly AccountTextName[] = ['saved', 'email_half', 'password_saved']

/** Errors after which the session or the user is gone. */
const gone = ['bad_jwt', 'session_not_found', 'session_expired', 'user_not_found', 'user_banned']

/** The routes of a page. */
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
          return act(visit, fields).catch((error) => explain(page, visit, error, fields))
        })
      },
    )
  }
}

/** Opens the page for the user of the browser; without one, and with a second factor due, they sign in first. */
async function visitPage(
  app: AccountDeps,
  page: AccountPage,
  exchange: Exchange,
  act: (visit: Visit) => FastifyReply | Promise<FastifyReply>,
): Promise<FastifyReply> {
  const now = new Date()
  const signedIn = await findSignedIn(app, exchange.request, now)
  if (!signedIn) return divert(app, exchange, 'sign-in', page.path)
  if (requiresFactor(signedIn.session)) return divert(app, exchange, 'sign-in/factor', page.path)
  const visit = createVisit(app, exchange, signedIn, page.path, now)
  try {
    return await act(visit)
  } catch (error) {
    const target = error instanceof ApiError ? detour(error, page) : undefined
    if (!target) throw error
    return divert(app, exchange, target, page.path)
  }
}

/** The page that has to come first. */
function detour({ errorCode, status }: ApiError, { path }: AccountPage): string | undefined {
  // 404 is about another session, which a form named.
  if (status !== 404 && gone.includes(errorCode)) return 'sign-in'
  if (errorCode === 'insufficient_aal') return 'sign-in/factor'
  if (errorCode === 'reauthentication_needed') return 'account/confirm'
  const isAtFactors = path === '/account/factors'
  return errorCode === 'mfa_enrollment_required' && !isAtFactors ? 'account/factors' : undefined
}

function divert(
  { config }: AccountDeps,
  { reply }: Exchange,
  page: string,
  next: string,
): FastifyReply {
  const url = `${config.AUTH_API_EXTERNAL_URL}/${page}?next=${encodeURIComponent(next)}`
  return reply.redirect(url, 303)
}

/** Shows the page again with the error, unless another page has to come first. */
function explain(page: AccountPage, visit: Visit, error: unknown, fields: AccountFields) {
  if (!(error instanceof ApiError) || error.status >= 500 || detour(error, page)) throw error
  const { errorCode, status } = error
  return page.show(
    visit,
    { error: accountErrorText(errorCode), status: shownStatus(status) },
    fields,
  )
}

/** A page is not missing because what a form names is. */
const shownStatus = (status: number): number => (status === 429 ? 429 : 400)
