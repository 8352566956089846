import type { FastifyInstance } from 'fastify'

import { type AccountPage, addAccountPage } from '../../../modules/account/index.ts'
import { clearedCookie } from '../../../modules/page-session/index.ts'
import { getHost } from '../../../modules/pages/index.ts'
import { featureDisabled } from '../../../schemas/errors.ts'
import type { User } from '../../../schemas/user.ts'

const name = 'account/delete'

function deletion(app: FastifyInstance): AccountPage {
  const show: AccountPage['show'] = (visit, outcome) => {
    if (!app.config.AUTH_USER_SELF_DELETE_ENABLED || visit.isManaged) {
      throw featureDisabled('This account is not deleted here (AUTH_USER_SELF_DELETE_ENABLED)')
    }
    const data = () => ({ account: getAccountName(visit.user), isGone: false })
    return visit.show(name, { title: 'delete', data }, outcome)
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
          name,
          { title: 'deleted', data: () => ({ isGone: true, site: { url, host: getHost(url) } }) },
          {},
        )
      },
    },
  }
}

/** The text that the user types to confirm. */
const getAccountName = ({ id, email, phone }: User): string => email || phone || id

export default addAccountPage(deletion)
