import {
  type AccountFields,
  type AccountPage,
  type Action,
  addAccountPage,
  type Visit,
} from '../../../modules/account/index.ts'
import { readNext } from '../../../modules/pages/index.ts'
import { isErrorWithCode } from '../../../schemas/errors.ts'

const show: AccountPage['show'] = (visit, outcome, fields) => {
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

const send: Action = async (visit, fields) => {
  await visit.call({ method: 'GET', url: '/reauthenticate' })
  return show(visit, { done: 'code_on_way' }, fields)
}

/** The API records a presented secret in the session; a method that was added within a day does not count. */
async function reauthenticate(visit: Visit, payload: object, fields: AccountFields) {
  await visit.call({ method: 'PUT', url: '/user', payload })
  try {
    await visit.requireProof('factor')
  } catch (error) {
    const isTooNew = isErrorWithCode(error, 'reauthentication_needed')
    if (isTooNew) return show(visit, { error: 'too_new' }, fields)
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
export default addAccountPage(() => ({
  path: '/account/confirm',
  summary: 'Reauthentication of the user',
  show,
  actions: {
    send,
    password: (visit, fields) =>
      reauthenticate(visit, { current_password: fields.password }, fields),
    code: (visit, fields) => reauthenticate(visit, { nonce: fields.nonce?.trim() }, fields),
  },
}))
