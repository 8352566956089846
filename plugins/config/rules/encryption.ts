import type { Config } from '../config.ts'
import type { Mistake } from '../mistake.ts'
import { missing } from './missing.ts'

const idName = 'AUTH_SECURITY_DB_ENCRYPTION_ENCRYPTION_KEY_ID'
const keyName = 'AUTH_SECURITY_DB_ENCRYPTION_ENCRYPTION_KEY'
const keysName = 'AUTH_SECURITY_DB_ENCRYPTION_DECRYPTION_KEYS'

export function encryptionRule(config: Config): Mistake[] {
  if (!config.AUTH_SECURITY_DB_ENCRYPTION_ENCRYPT) return []
  const id = config[idName]
  const lost = missing(config, [idName, keyName], 'AUTH_SECURITY_DB_ENCRYPTION_ENCRYPT is true')
  if (id === undefined || id in config[keysName]) return lost
  const problem = `has no key "${id}"`
  const remedy = `it must hold the key that ${idName} names, or what was encrypted cannot be read`
  return [...lost, { variable: keysName, problem, remedy }]
}
