/** Rules across variables. Each receives individually valid values. */
import type { ConfigIssue } from '../core/config-error.ts'
import type { Config } from '../groups/index.ts'
import { addressesRule } from './addresses.ts'
import { databaseRule } from './database.ts'
import {
  captchaRule,
  organizationsRule,
  passkeysRule,
  securityTxtRule,
  usernamesRule,
} from './features.ts'
import { hooksRule, webhooksRule } from './hooks.ts'
import { encryptionRule, jwtRule, secretsRule } from './keys.ts'
import { mailRule, smsRule } from './messages.ts'
import { genericOidcRule, idTokenRule, providersRule, ssoRule } from './providers.ts'

export const rules: readonly ((config: Config) => ConfigIssue[])[] = [
  jwtRule,
  secretsRule,
  encryptionRule,
  addressesRule,
  databaseRule,
  mailRule,
  smsRule,
  captchaRule,
  providersRule,
  genericOidcRule,
  idTokenRule,
  hooksRule,
  webhooksRule,
  ssoRule,
  passkeysRule,
  usernamesRule,
  securityTxtRule,
  organizationsRule,
]
