import type { FastifyInstance } from 'fastify'

import { type AccountPage, addAccountPage, formatTime } from '../../../modules/account/index.ts'
import { changeFlow, ensureCookie } from '../../../modules/page-session/index.ts'
import { sendOnward, textIn } from '../../../modules/pages/index.ts'

const path = '/account/linked'

/** Email and phone have pages of their own. */
const ownPages = ['email', 'phone']

/** Accounts at external providers. */
function linked(app: FastifyInstance): AccountPage {
  const { oauthProviders } = app

  return {
    path,
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
          ...changeFlow(app, ensureCookie(app, request, reply), path),
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
        return visit.leave(path, 'saved')
      },
    },
  }
}

export default addAccountPage(linked)
