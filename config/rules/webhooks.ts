import type { ConfigIssue } from '../core/config-error.ts'
import type { Config } from '../groups/index.ts'

const variable = 'AUTH_WEBHOOK_ENDPOINTS'

/** URLs that events may not be sent to; those that admins enter are rejected for the same reason. */
export function webhooksRule(config: Config): ConfigIssue[] {
  const isOpen = config.dev || config.AUTH_WEBHOOK_PRIVATE_ADDRESSES
  return config[variable].flatMap(({ url }) => invalidUrl(new URL(url), isOpen))
}

function invalidUrl(url: URL, isOpen: boolean): ConfigIssue[] {
  const { host, protocol } = url
  if (url.username || url.password) {
    const hint = 'events are signed instead: the receiver verifies them with one of the secrets'
    return [{ variable, problem: `has credentials in the URL of ${host}`, hint }]
  }
  if (isOpen || protocol === 'https:') return []
  const hint = 'it must be a public https:// URL, unless AUTH_WEBHOOK_PRIVATE_ADDRESSES is true'
  return [{ variable, problem: `has ${protocol}//${host}`, hint }]
}
