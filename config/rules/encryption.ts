import type { ConfigIssue } from '../core/config-error.ts'
import type { Config } from '../groups/index.ts'
import { missing } from './missing.ts'

const idName = 'AUTH_SECURITY_DB_ENCRYPTION_ENCRYPTION_KEY_ID'
const keyName = 'AUTH_SECURITY_DB_ENCRYPTION_ENCRYPTION_KEY'
const keysName = 'AUTH_SECURITY_DB_ENCRYPTION_DECRYPTION_KEYS'

export function encryptionRule(config: Config): ConfigIssue[] {
  if (!config.AUTH_SECURITY_DB_ENCRYPTION_ENCRYPT) return []
  const id = config[idName]
  const lost = missing(config, [idName, keyName], 'AUTH_SECURITY_DB_ENCRYPTION_ENCRYPT is true')
  if (id === undefined || id in config[keysName]) return lost
  const problem = `has no key "${id}"`
  const hint = `it must contain the key named by ${idName}, which existing data is encrypted with`
  return [...lost, { variable: keysName, problem, hint }]
}
