/** What has access to the account: devices, applications, and accounts at external providers. */
import type { FastifyInstance } from 'fastify'

import {
  type AccountPage,
  addAccountPage,
  formatDevice,
  formatTime,
} from '../../../modules/account/index.ts'
import { changeFlow, ensureCookie } from '../../../modules/page-session/index.ts'
import { permissionLines, sendOnward, textIn } from '../../../modules/pages/index.ts'
import { isRecord } from '../../../schemas/values/record.ts'

const devicesPath = '/account/devices'

/** The sessions of the user; those of OAuth clients are at the connected apps. */
function devices(): AccountPage {
  return {
    path: devicesPath,
    summary: 'Sessions of the user',
    async show(visit, outcome) {
      const { body } = await visit.call({ method: 'GET', url: '/sessions' })
      const sessions = Array.isArray(body.sessions) ? body.sessions.filter(isRecord) : []
      const own = sessions.filter((session) => session.client_id === undefined)
      return visit.show(
        'account/devices',
        {
          title: 'devices',
          data: (say, tag) => ({
            devices: own.map((session) => ({
              id: session.id,
              name: formatDevice(say, session.user_agent),
              ip: session.ip ?? '',
              used: formatTime(tag, session.last_used_at),
              isCurrent: session.current === true,
              isImpersonated: session.impersonated_by !== undefined,
            })),
          }),
        },
        outcome,
      )
    },
    actions: {
      async revoke(visit, { session_id: id = '' }) {
        await visit.call({ method: 'DELETE', url: '/sessions/:id', params: { id } })
        return visit.leave(devicesPath, 'saved')
      },
      async revoke_others(visit) {
        await visit.call({ url: '/logout?scope=others' })
        return visit.leave(devicesPath, 'saved')
      },
    },
  }
}

const devicesPage = addAccountPage(devices)

const linkedPath = '/account/linked'

/** Email and phone have pages of their own. */
const ownPages = ['email', 'phone']

/** Accounts at external providers. */
function linked(app: FastifyInstance): AccountPage {
  const { oauthProviders } = app

  return {
    path: linkedPath,
    summary: 'Linked accounts of the user',
    show(visit, outcome) {
      const identities = (visit.user.identities ?? []).filter(
        ({ provider }) => !ownPages.includes(provider),
      )
      const offered = Object.entries(oauthProviders.switches).filter(([, isOn]) => isOn)
      return visit.show(
        'account/linked',
        {
          title: 'linked',
          data: (_say, tag) => ({
            identities: identities.map(({ identity_id: id, provider, email, created_at }) => ({
              id,
              email: email ?? '',
              name: oauthProviders.getTitle(provider),
              added: formatTime(tag, created_at),
            })),
            providers: offered.map(([id]) => ({ id, name: oauthProviders.getTitle(id) })),
          }),
        },
        outcome,
      )
    },
    actions: {
      /**
       * Bound to this browser: otherwise an attacker could make another user link their external account to the
       * attacker's account.
       */
      async link(visit, { provider = '' }) {
        const { request, reply } = visit
        const query = {
          ...changeFlow(app, ensureCookie(app, request, reply), linkedPath),
          provider,
          skip_http_redirect: 'true',
          bind_browser: 'true',
        }
        const url = '/user/identities/authorize'
        const response = await visit.call({ method: 'GET', url, query })
        for (const cookie of response.cookies) reply.header('set-cookie', cookie)
        return sendOnward(app, request, reply, textIn(response, 'url') ?? '')
      },
      async unlink(visit, { identity_id: id = '' }) {
        await visit.call({ method: 'DELETE', url: '/user/identities/:id', params: { id } })
        return visit.leave(linkedPath, 'saved')
      },
    },
  }
}

const linkedPage = addAccountPage(linked)

const appsPath = '/account/apps'
const grantsUrl = '/user/oauth/grants'

/** OAuth clients that the user has given access. */
function apps(): AccountPage {
  return {
    path: appsPath,
    summary: 'OAuth clients that the user has given access',
    async show(visit, outcome) {
      const { items } = await visit.call({ method: 'GET', url: grantsUrl })
      return visit.show(
        'account/apps',
        {
          title: 'apps',
          data: (say, tag) => ({
            apps: items.map(({ client, scopes, granted_at }) => {
              const { id, name } = isRecord(client) ? client : {}
              const names = Array.isArray(scopes) ? scopes.map(String) : []
              const permissions = permissionLines(say, names).join(', ')
              return { id, name: name || id, permissions, since: formatTime(tag, granted_at) }
            }),
          }),
        },
        outcome,
      )
    },
    actions: {
      async revoke(visit, { client_id: id = '' }) {
        await visit.call({ method: 'DELETE', url: grantsUrl, query: { client_id: id } })
        return visit.leave(appsPath, 'saved')
      },
    },
  }
}

const appsPage = addAccountPage(apps)

export const connectedRoutes = { devices: devicesPage, linked: linkedPage, apps: appsPage }
