import type { Config } from '../config.ts'
import type { Mistake } from '../mistake.ts'

const variable = 'AUTH_WEBHOOK_ENDPOINTS'

/** Addresses to which no event could ever be sent; those that admins name are refused for the same. */
export function webhooksRule(config: Config): Mistake[] {
  const isOpen = config.dev || config.AUTH_WEBHOOK_PRIVATE_ADDRESSES
  return config[variable].flatMap(({ url }) => wrongAddress(new URL(url), isOpen))
}

function wrongAddress(url: URL, isOpen: boolean): Mistake[] {
  const { host, protocol } = url
  if (url.username || url.password) {
    const remedy = 'events are signed instead: the receiver has to check one of its secrets'
    return [{ variable, problem: `has a user name or password for ${host}`, remedy }]
  }
  if (isOpen || protocol === 'https:') return []
  const remedy =
    'it must be an https:// address on the public internet, unless AUTH_WEBHOOK_PRIVATE_ADDRESSES is true'
  return [{ variable, problem: `has ${protocol}//${host}`, remedy }]
}
