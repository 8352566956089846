import type { FastifyInstance } from 'fastify'

import {
  type AccountPage,
  addAccountPage,
  phonesAllowed,
  settleSession,
} from '../../../modules/account/index.ts'

const path = '/account/phone'

function phone(app: FastifyInstance): AccountPage {
  return {
    path,
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
        return visit.leave(path, body.new_phone ? undefined : 'saved')
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

export default addAccountPage(phone)
