/** The account page: its templates are in templates/account, its style sheet follows that of the other pages. */
import { definePages } from '../render.ts'
import { type AccountTextName, getAccountTexts } from './texts.ts'

export type AccountPageName = `account/${
  | 'overview'
  | 'profile'
  | 'email'
  | 'username'
  | 'phone'
  | 'password'
  | 'confirm'
  | 'factors'
  | 'code'
  | 'key'
  | 'recovery-codes'
  | 'passkeys'
  | 'devices'
  | 'linked'
  | 'apps'
  | 'data'
  | 'delete'}`

export const accountPages = definePages<AccountPageName, AccountTextName>(
  getAccountTexts,
  'account/style.css',
)
