/** The password of the user, and the authentication that a change needs. */
import type { FastifyInstance, FastifyPluginAsync } from 'fastify'

import {
  type AccountFields,
  type AccountPage,
  type Action,
  addAccountPage,
  type Visit,
} from '../../../modules/account/index.ts'
import { readNext } from '../../../modules/pages/index.ts'
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

const passwordPage = addAccountPage(password)

/** Where password managers send a user who changes the password (A Well-Known URL for Changing Passwords, W3C). */
const changePassword: FastifyPluginAsync = async (app) => {
  const page = `${app.config.AUTH_API_EXTERNAL_URL}/account/password`
  app.get('/.well-known/change-password', { schema: { hide: true } }, async (_request, reply) =>
    reply.redirect(page, 302),
  )
}

const showConfirmation: AccountPage['show'] = (visit, outcome, fields) => {
  const account = visit.user.email || visit.user.phone
  const next = getTarget(fields)
  const data = () => ({
    account,
    next,
    nextEncoded: encodeURIComponent(next),
    hasPassword: visit.hasPassword && !visit.isManaged,
    canSend: account !== '' && !visit.isManaged,
    isCodeSent: fields.action === 'send' || fields.action === 'code',
  })
  return visit.show('account/confirm', { title: 'confirm_title', data }, outcome)
}

const sendCode: Action = async (visit, fields) => {
  await visit.call({ method: 'GET', url: '/reauthenticate' })
  return showConfirmation(visit, { done: 'code_on_way' }, fields)
}

/** The API records a presented secret in the session; a method that was added within a day does not count. */
async function reauthenticate(visit: Visit, payload: object, fields: AccountFields) {
  await visit.call({ method: 'PUT', url: '/user', payload })
  try {
    await visit.requireProof('factor')
  } catch (error) {
    const isTooNew = isErrorWithCode(error, 'reauthentication_needed')
    if (isTooNew) return showConfirmation(visit, { error: 'too_new' }, fields)
    throw error
  }
  return visit.leave(getTarget(fields))
}

/** The page where the change is made. */
function getTarget({ next }: AccountFields): string {
  const target = readNext(next)
  return target.startsWith('/account/') ? target : '/account'
}

/** The authentication that a change needs: the password, a code, or another sign-in. */
const confirmPage = addAccountPage(() => ({
  path: '/account/confirm',
  summary: 'Reauthentication of the user',
  show: showConfirmation,
  actions: {
    send: sendCode,
    password: (visit, fields) =>
      reauthenticate(visit, { current_password: fields.password }, fields),
    code: (visit, fields) => reauthenticate(visit, { nonce: fields.nonce?.trim() }, fields),
  },
}))

export const passwordRoutes = { password: passwordPage, changePassword, confirm: confirmPage }
