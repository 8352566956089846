/** The account page, and the name and language of the user. */
import type { FastifyInstance } from 'fastify'

import {
  type AccountPage,
  type AccountSay,
  type AccountTextName,
  addAccountPage,
  phonesAllowed,
  type Visit,
} from '../../../modules/account/index.ts'
import { clearedCookie, endPageSession } from '../../../modules/page-session/index.ts'
import { getHost, sendMessage, wayToSignIn } from '../../../modules/pages/index.ts'
import type { User } from '../../../schemas/user.ts'
import { getLanguageName } from '../../../schemas/values/language-name.ts'

interface Row {
  label: AccountTextName
  page: string
  value?: string | undefined
  isShown?: boolean
}

function overview(app: FastifyInstance): AccountPage {
  const { config } = app

  return {
    path: '/account',
    summary: 'Account page',
    show(visit, outcome) {
      const url = config.AUTH_SITE_URL
      return visit.show(
        'account/overview',
        {
          title: 'account',
          data: (say) => ({ rows: buildRows(app, visit, say), site: { url, host: getHost(url) } }),
        },
        outcome,
      )
    },
    actions: {
      async sign_out({ request, reply, signedIn, now }) {
        await endPageSession(app, signedIn, { ip: request.clientIp, now })
        reply.header('set-cookie', clearedCookie(app))
        return sendMessage(app, request, reply, {
          title: (say) => say('signed_out'),
          wayOn: wayToSignIn(app),
        })
      },
    },
  }
}

/** The rows that the user can see and change, as far as the features are enabled. */
function buildRows(app: FastifyInstance, { user, hasPassword, isManaged }: Visit, say: AccountSay) {
  const { config } = app
  const none = say('not_set')
  const rows: Row[] = [
    { label: 'profile', page: 'profile', value: nameIn(user) || none },
    { label: 'email', page: 'email', value: user.email || none },
    {
      label: 'username',
      page: 'username',
      value: usernameIn(user) || none,
      isShown: config.AUTH_USERNAMES_ENABLED && !isManaged,
    },
    {
      label: 'phone',
      page: 'phone',
      value: user.phone ? `+${user.phone}` : none,
      isShown: phonesAllowed(app) || Boolean(user.phone),
    },
    {
      label: 'password',
      page: 'password',
      value: hasPassword ? say('is_set') : none,
      isShown: !isManaged,
    },
    { label: 'factors', page: 'factors', value: factorNames(user, say) || none },
    { label: 'passkeys', page: 'passkeys', isShown: config.AUTH_PASSKEY_ENABLED },
    { label: 'linked', page: 'linked', isShown: config.AUTH_SECURITY_MANUAL_LINKING_ENABLED },
    { label: 'devices', page: 'devices' },
    { label: 'apps', page: 'apps', isShown: config.AUTH_OAUTH_SERVER_ENABLED },
    { label: 'data', page: 'data' },
  ]
  return rows
    .filter(({ isShown = true }) => isShown)
    .map(({ label, page, value }) => ({ label: say(label), page, value }))
}

function usernameIn({ app_metadata: { preferred_username: name } }: User): string {
  return typeof name === 'string' ? name : ''
}

function factorNames({ factors = [] }: User, say: AccountSay): string {
  const verified = factors.filter(({ status }) => status === 'verified')
  const names = verified.flatMap(({ factor_type: type }) => labels[type] ?? [])
  return [...new Set(names)].map((name) => say(name)).join(', ')
}

const labels: Record<string, AccountTextName> = {
  totp: 'factor_app',
  phone: 'factor_sms',
  webauthn: 'factor_usb',
}

const overviewPage = addAccountPage(overview)

const profilePath = '/account/profile'

function profile({ languages }: FastifyInstance): AccountPage {
  return {
    path: profilePath,
    summary: 'Name and language of the user',
    show: (visit, outcome, fields) =>
      visit.show(
        'account/profile',
        {
          title: 'profile',
          data: () => ({
            name: fields.name ?? nameIn(visit.user),
            locale: fields.locale ?? textIn(visit.user, 'locale'),
            languages: languages.available.map((tag) => ({ tag, name: getLanguageName(tag) })),
          }),
        },
        outcome,
      ),
    actions: {
      async save(visit, { name = '', locale = '' }) {
        const data = { name: name.trim() || null, locale: locale || null }
        await visit.call({ method: 'PUT', url: '/user', payload: { data } })
        return visit.leave(profilePath, 'saved')
      },
    },
  }
}

/** The name that the user or a provider gave. */
const nameIn = (user: User): string => textIn(user, 'name') || textIn(user, 'full_name')

function textIn({ user_metadata: metadata }: User, name: string): string {
  const value = metadata[name]
  return typeof value === 'string' ? value : ''
}

const profilePage = addAccountPage(profile)

export const overviewRoutes = { overview: overviewPage, profile: profilePage }
