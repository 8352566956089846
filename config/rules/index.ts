/** Rules across variables. Each receives individually valid values. */
import type { ConfigIssue } from '../core/config-error.ts'
import type { Config } from '../groups/index.ts'
import { addressesRule } from './addresses.ts'
import { captchaRule } from './captcha.ts'
import { databaseRule } from './database.ts'
import { encryptionRule } from './encryption.ts'
import { hooksRule } from './hooks.ts'
import { idTokenRule } from './id-tokens.ts'
import { jwtRule } from './jwt.ts'
import { mailRule } from './mail.ts'
import { organizationsRule } from './organizations.ts'
import { passkeysRule } from './passkeys.ts'
import { genericOidcRule, providersRule } from './providers.ts'
import { secretsRule } from './secrets.ts'
import { securityTxtRule } from './security-txt.ts'
import { smsRule } from './sms.ts'
import { ssoRule } from './sso.ts'
import { usernamesRule } from './usernames.ts'
import { webhooksRule } from './webhooks.ts'

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
