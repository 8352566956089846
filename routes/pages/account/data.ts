import type { FastifyInstance } from 'fastify'

import { type AccountPage, addAccountPage } from '../../../modules/account/index.ts'

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

export default addAccountPage(data)
