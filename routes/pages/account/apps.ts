import { type AccountPage, addAccountPage, formatTime } from '../../../modules/account/index.ts'
import { permissionLines } from '../../../modules/pages/index.ts'
import { isRecord } from '../../../schemas/values/record.ts'

const path = '/account/apps'
const url = '/user/oauth/grants'

/** OAuth clients that the user has given access. */
function apps(): AccountPage {
  return {
    path,
    summary: 'OAuth clients that the user has given access',
    async show(visit, outcome) {
      const { items } = await visit.call({ method: 'GET', url })
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
        await visit.call({ method: 'DELETE', url, query: { client_id: id } })
        return visit.leave(path, 'saved')
      },
    },
  }
}

export default addAccountPage(apps)
