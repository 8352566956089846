import type { Config } from '../config.ts'
import type { Mistake } from '../mistake.ts'
import { missing } from './missing.ts'

export function ssoRule(config: Config): Mistake[] {
  if (!config.AUTH_SAML_ENABLED) return []
  return missing(config, ['AUTH_SAML_PRIVATE_KEY'], 'AUTH_SAML_ENABLED is true')
}
