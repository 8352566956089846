import type { FastifyInstance } from 'fastify'

import { type AccountPage, addAccountPage } from '../../../modules/account/index.ts'
import { isErrorWithCode } from '../../../schemas/errors.ts'

const path = '/account/password'

function password({ config }: FastifyInstance): AccountPage {
  const requiresCurrent = config.AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_CURRENT_PASSWORD

  const show: AccountPage['show'] = async (visit, outcome, { nonce }) => {
    const { hasPassword, isManaged, user } = visit
    if (!hasPassword && !isManaged) await visit.requireProof('credentials')
    const account = user.email || user.phone
    const required = {
      requiresCurrent: requiresCurrent && hasPassword,
      requiresCode: nonce !== undefined,
      minLength: config.AUTH_PASSWORD_MIN_LENGTH,
    }
    return visit.show(
      'account/password',
      { title: 'password', data: () => ({ account, ...required }) },
      outcome,
    )
  }

  return {
    path,
    summary: 'Password of the user',
    show,
    actions: {
      async change(visit, { current, password: chosen, nonce }) {
        const payload = {
          password: chosen,
          ...(current && { current_password: current }),
          ...(nonce && { nonce: nonce.trim() }),
        }
        try {
          await visit.call({ method: 'PUT', url: '/user', payload })
        } catch (error) {
          if (!visit.hasPassword || !isCodeNeeded(error)) throw error
          await visit.call({ method: 'GET', url: '/reauthenticate' })
          return show(visit, { done: 'code_on_way' }, { nonce: '' })
        }
        return visit.leave(path, 'password_saved')
      },
    },
  }
}

/** Whether the code must be in the request itself. */
const isCodeNeeded = (error: unknown): boolean => isErrorWithCode(error, 'reauthentication_needed')

export default addAccountPage(password)
