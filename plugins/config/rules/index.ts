/** Rules that tie variables together. They see values that passed on their own. */
import type { Config } from '../config.ts'
import type { Mistake } from '../mistake.ts'
import { addressesRule } from './addresses.ts'
import { captchaRule } from './captcha.ts'
import { encryptionRule } from './encryption.ts'
import { hooksRule } from './hooks.ts'
import { idTokenRule } from './id-tokens.ts'
import { jwtRule } from './jwt.ts'
import { mailRule } from './mail.ts'
import { passkeysRule } from './passkeys.ts'
import { genericOidcRule, providersRule } from './providers.ts'
import { secretsRule } from './secrets.ts'
import { smsRule } from './sms.ts'
import { ssoRule } from './sso.ts'
import { webhooksRule } from './webhooks.ts'

export const rules: readonly ((config: Config) => Mistake[])[] = [
  jwtRule,
  secretsRule,
  encryptionRule,
  addressesRule,
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
]
