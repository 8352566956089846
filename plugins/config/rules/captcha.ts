import { formatDuration } from '../../../schemas/duration.ts'
import type { Config } from '../config.ts'
import type { Mistake } from '../mistake.ts'
import { missing } from './missing.ts'

export function captchaRule(config: Config): Mistake[] {
  if (!config.AUTH_SECURITY_CAPTCHA_ENABLED) return []
  const needed = ['AUTH_SECURITY_CAPTCHA_PROVIDER', 'AUTH_SECURITY_CAPTCHA_SECRET'] as const
  const because = 'AUTH_SECURITY_CAPTCHA_ENABLED is true'
  return [...missing(config, needed, because), ...timeMistakes(config)]
}

/** A request would end before the provider's time is over. */
function timeMistakes(config: Config): Mistake[] {
  const variable = 'AUTH_API_MAX_REQUEST_DURATION'
  const needed = config.AUTH_SECURITY_CAPTCHA_TIMEOUT
  if (config[variable] >= needed) return []
  const problem = 'is shorter than AUTH_SECURITY_CAPTCHA_TIMEOUT'
  return [{ variable, problem, remedy: `it must be at least ${formatDuration(needed)}` }]
}
