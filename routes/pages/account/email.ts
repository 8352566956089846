import type { FastifyInstance } from 'fastify'

import {
  type AccountPage,
  addAccountPage,
  settleSession,
  type Visit,
} from '../../../modules/account/index.ts'
import { changeFlow, ensureCookie } from '../../../modules/page-session/index.ts'
import { textIn } from '../../../modules/pages/index.ts'

const path = '/account/email'

function email(app: FastifyInstance): AccountPage {
  return {
    path,
    summary: 'Email address of the user',
    async show(visit, outcome, fields) {
      const { user, isManaged } = visit
      if (!isManaged && !user.new_email) await visit.requireProof('credentials')
      const addresses = listAddresses(app, visit)
      const data = () => ({ current: user.email, typed: fields.email ?? '', addresses })
      return visit.show('account/email', { title: 'email', data }, outcome)
    },
    actions: {
      async change(visit, { email: newEmail }) {
        const { request, reply } = visit
        const { redirect_to, ...pkce } = changeFlow(
          app,
          ensureCookie(app, request, reply),
          '/account',
        )
        const payload = { email: newEmail, ...pkce }
        const target = { url: '/user', query: { redirect_to } } as const
        const { body } = await visit.call({ method: 'PUT', ...target, payload })
        return visit.leave(path, body.new_email ? undefined : 'saved')
      },

      async verify(visit, { code = '', which }) {
        const { user } = visit
        const address = which === 'current' ? user.email : user.new_email
        const typed = { type: 'email_change', email: address, token: code.trim() }
        const response = await visit.verify(typed)
        await settleSession(app, visit, user.id, response)
        return textIn(response, 'msg')
          ? visit.leave(path, 'email_half')
          : visit.leave('/account', 'saved')
      },
    },
  }
}

/** Where the codes of a pending change were sent. */
function listAddresses(
  { config }: FastifyInstance,
  { user: { email: current, new_email } }: Visit,
) {
  if (!new_email) return []
  const requiresBoth = config.AUTH_MAILER_SECURE_EMAIL_CHANGE_ENABLED && current !== ''
  const newAddress = { which: 'new', address: new_email }
  return requiresBoth ? [newAddress, { which: 'current', address: current }] : [newAddress]
}

export default addAccountPage(email)
