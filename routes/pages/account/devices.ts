import {
  type AccountPage,
  addAccountPage,
  formatDevice,
  formatTime,
} from '../../../modules/account/index.ts'
import { isRecord } from '../../../schemas/values/record.ts'

const path = '/account/devices'

/** The sessions of the user; those of OAuth clients are at the connected apps. */
function devices(): AccountPage {
  return {
    path,
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
        return visit.leave(path, 'saved')
      },
      async revoke_others(visit) {
        await visit.call({ url: '/logout?scope=others' })
        return visit.leave(path, 'saved')
      },
    },
  }
}

export default addAccountPage(devices)
