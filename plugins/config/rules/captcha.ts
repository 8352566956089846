import type { Config } from '../config.ts'
import type { Mistake } from '../mistake.ts'
import { missing } from './missing.ts'

export function captchaRule(config: Config): Mistake[] {
  if (!config.AUTH_SECURITY_CAPTCHA_ENABLED) return []
  return missing(
    config,
    ['AUTH_SECURITY_CAPTCHA_PROVIDER', 'AUTH_SECURITY_CAPTCHA_SECRET'],
    'AUTH_SECURITY_CAPTCHA_ENABLED is true',
  )
}
