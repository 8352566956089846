import type { FastifyInstance } from 'fastify'

import { type AccountPage, addAccountPage, formatTime } from '../../../modules/account/index.ts'

const path = '/account/username'
const url = '/user/username'

function username({ config }: FastifyInstance): AccountPage {
  return {
    path,
    summary: 'Username of the user',
    async show(visit, outcome, fields) {
      const isFixed = visit.isManaged || !config.AUTH_USERNAMES_ENABLED
      if (isFixed) {
        return visit.show('account/username', { title: 'username', data: () => fixed }, outcome)
      }
      await visit.requireProof('credentials')
      const { body } = await visit.call({ method: 'GET', url })
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
        await visit.call({ method: 'PUT', url, payload: { username: newUsername.trim() } })
        return visit.leave(path, 'saved')
      },
    },
  }
}

const fixed = { current: undefined, isFixed: true }

export default addAccountPage(username)
