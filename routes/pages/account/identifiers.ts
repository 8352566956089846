/** Email address, username and phone number of the user. */
import type { FastifyInstance } from 'fastify'

import {
  type AccountPage,
  addAccountPage,
  formatTime,
  phonesAllowed,
  settleSession,
  type Visit,
} from '../../../modules/account/index.ts'
import { changeFlow, ensureCookie } from '../../../modules/page-session/index.ts'
import { textIn } from '../../../modules/pages/index.ts'

const emailPath = '/account/email'

function email(app: FastifyInstance): AccountPage {
  return {
    path: emailPath,
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
        return visit.leave(emailPath, body.new_email ? undefined : 'saved')
      },

      async verify(visit, { code = '', which }) {
        const { user } = visit
        const address = which === 'current' ? user.email : user.new_email
        const typed = { type: 'email_change', email: address, token: code.trim() }
        const response = await visit.verify(typed)
        await settleSession(app, visit, user.id, response)
        return textIn(response, 'msg')
          ? visit.leave(emailPath, 'email_half')
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

const emailPage = addAccountPage(email)

const usernamePath = '/account/username'
const usernameUrl = '/user/username'

function username({ config }: FastifyInstance): AccountPage {
  return {
    path: usernamePath,
    summary: 'Username of the user',
    async show(visit, outcome, fields) {
      const isFixed = visit.isManaged || !config.AUTH_USERNAMES_ENABLED
      if (isFixed) {
        return visit.show(
          'account/username',
          { title: 'username', data: () => fixedUsername },
          outcome,
        )
      }
      await visit.requireProof('credentials')
      const { body } = await visit.call({ method: 'GET', url: usernameUrl })
      const data = (_say: unknown, tag: string) => ({
        current: body.username,
        changeableAt: formatTime(tag, body.changeable_at),
        typed: fields.username ?? '',
        isFixed,
      })
      return visit.show('account/username', { title: 'username', data }, outcome)
    },
    actions: {
      async change(visit, { username: newUsername = '' }) {
        await visit.call({
          method: 'PUT',
          url: usernameUrl,
          payload: { username: newUsername.trim() },
        })
        return visit.leave(usernamePath, 'saved')
      },
    },
  }
}

const fixedUsername = { current: undefined, isFixed: true }

const usernamePage = addAccountPage(username)

const phonePath = '/account/phone'

function phone(app: FastifyInstance): AccountPage {
  return {
    path: phonePath,
    summary: 'Phone number of the user',
    async show(visit, outcome, fields) {
      const { user, isManaged } = visit
      const isFixed = isManaged || !phonesAllowed(app)
      if (!isFixed && !user.new_phone) await visit.requireProof('credentials')
      const { phone: current, new_phone: pending } = user
      const data = () => ({ current, pending, isFixed, typed: fields.phone ?? '' })
      return visit.show('account/phone', { title: 'phone', data }, outcome)
    },
    actions: {
      async change(visit, { phone: newPhone }) {
        const payload = { phone: newPhone }
        const { body } = await visit.call({ method: 'PUT', url: '/user', payload })
        return visit.leave(phonePath, body.new_phone ? undefined : 'saved')
      },

      async verify(visit, { code = '' }) {
        const { user } = visit
        const typed = { type: 'phone_change', phone: user.new_phone, token: code.trim() }
        await settleSession(app, visit, user.id, await visit.verify(typed))
        return visit.leave('/account', 'saved')
      },
    },
  }
}

const phonePage = addAccountPage(phone)

export const identifierRoutes = { email: emailPage, username: usernamePage, phone: phonePage }
