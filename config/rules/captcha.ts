import { formatDuration } from '../../schemas/values/duration.ts'
import type { ConfigIssue } from '../core/config-error.ts'
import type { Config } from '../groups/index.ts'
import { missing } from './missing.ts'

export function captchaRule(config: Config): ConfigIssue[] {
  if (!config.AUTH_SECURITY_CAPTCHA_ENABLED) return []
  const needed = ['AUTH_SECURITY_CAPTCHA_PROVIDER', 'AUTH_SECURITY_CAPTCHA_SECRET'] as const
  const because = 'AUTH_SECURITY_CAPTCHA_ENABLED is true'
  return [...missing(config, needed, because), ...timeIssues(config), ...pageIssues(config)]
}

/** The hosted pages must show the captcha that their requests need. */
function pageIssues(config: Config): ConfigIssue[] {
  const variable = 'AUTH_SECURITY_CAPTCHA_SITE_KEY'
  if (!usesSignInPages(config) || config[variable]) return []
  const problem = 'is not set, so the hosted sign-in pages cannot show the captcha'
  const hint = 'set it to the site key of the captcha provider'
  return [{ variable, problem, hint }]
}

/** In development the account page is enabled by default and may have no working sign-in. */
function usesSignInPages(config: Config): boolean {
  if (config.AUTH_ACCOUNT_PAGE_ENABLED && !config.dev) return true
  return config.AUTH_OAUTH_SERVER_ENABLED && !config.AUTH_OAUTH_SERVER_AUTHORIZATION_PATH
}

/** A request would time out before the provider does. */
function timeIssues(config: Config): ConfigIssue[] {
  const variable = 'AUTH_API_MAX_REQUEST_DURATION'
  const needed = config.AUTH_SECURITY_CAPTCHA_TIMEOUT
  if (config[variable] >= needed) return []
  const problem = 'is shorter than AUTH_SECURITY_CAPTCHA_TIMEOUT'
  return [{ variable, problem, hint: `it must be at least ${formatDuration(needed)}` }]
}
