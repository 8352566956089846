/** The account page: each of its pages is a form over the API, with the rules and messages of the API. */
export { formatDevice, formatTime } from './format.ts'
export {
  type AccountFields,
  type AccountPage,
  type Action,
  addAccountPage,
  type Outcome,
} from './page.ts'
export { phonesAllowed, settleSession } from './session.ts'
export type { AccountSay, AccountTextName, Visit } from './visit.ts'
