/** Data of the user: their export, and the deletion of the account. */
import type { FastifyInstance } from 'fastify'

import { type AccountPage, addAccountPage } from '../../../modules/account/index.ts'
import { clearedCookie } from '../../../modules/page-session/index.ts'
import { getHost } from '../../../modules/pages/index.ts'
import { featureDisabled } from '../../../schemas/errors.ts'
import type { User } from '../../../schemas/user.ts'

/** Data export, and the link to the deletion. */
function data({ config }: FastifyInstance): AccountPage {
  return {
    path: '/account/data',
    summary: 'Data of the user',
    show: (visit, outcome) =>
      visit.show(
        'account/data',
        {
          title: 'data',
          data: () => ({
            canDelete: config.AUTH_USER_SELF_DELETE_ENABLED && !visit.isManaged,
          }),
        },
        outcome,
      ),
    actions: {
      async download(visit) {
        const { body } = await visit.call({ method: 'GET', url: '/user/export' })
        const name = `account-${visit.now.toISOString().slice(0, 10)}.json`
        return visit.reply
          .header('content-disposition', `attachment; filename="${name}"`)
          .header('cache-control', 'no-store')
          .type('application/json; charset=utf-8')
          .send(JSON.stringify(body, null, 2))
      },
    },
  }
}

const dataPage = addAccountPage(data)

const deletionTemplate = 'account/delete'

function deletion(app: FastifyInstance): AccountPage {
  const show: AccountPage['show'] = (visit, outcome) => {
    if (!app.config.AUTH_USER_SELF_DELETE_ENABLED || visit.isManaged) {
      throw featureDisabled('This account is not deleted here (AUTH_USER_SELF_DELETE_ENABLED)')
    }
    const data = () => ({ account: getAccountName(visit.user), isGone: false })
    return visit.show(deletionTemplate, { title: 'delete', data }, outcome)
  }

  return {
    path: '/account/delete',
    summary: 'Deletion of the account',
    show,
    actions: {
      async delete(visit, { account }) {
        const isConfirmed =
          account?.trim().toLowerCase() === getAccountName(visit.user).toLowerCase()
        if (!isConfirmed) return show(visit, { error: 'entry_differs' }, {})
        await visit.call({ method: 'DELETE', url: '/user', payload: {} })
        visit.reply.header('set-cookie', clearedCookie(app))
        const { AUTH_SITE_URL: url } = app.config
        return visit.show(
          deletionTemplate,
          { title: 'deleted', data: () => ({ isGone: true, site: { url, host: getHost(url) } }) },
          {},
        )
      },
    },
  }
}

/** The text that the user types to confirm. */
const getAccountName = ({ id, email, phone }: User): string => email || phone || id

const deletionPage = addAccountPage(deletion)

export const dataRoutes = { data: dataPage, deletion: deletionPage }
