/** The keys of a configuration and of what is stored, side by side. */
import { type KeyUsage, recoveryCodes, waitingJobs } from '../../db/key-usage.ts'
import type { Config } from '../../plugins/config/config.ts'
import { keyId, originsOf, takenOverKeys } from '../../plugins/encryption/keys.ts'

export interface UsedKey {
  id: string
  /** The variable that it stands in. */
  origin: string
  isCurrent: boolean
  isReadable: boolean
  /** An old one that nothing stored needs any more. */
  mayGo: boolean
  rows: number
  /** Rows that `reencrypt` stores under the current key. */
  movable: number
  usage: Pick<KeyUsage, 'place' | 'rows'>[]
}

/** What cannot be stored under another key: it is used up, or made anew by the person. */
const fixed: readonly string[] = [recoveryCodes, waitingJobs, 'users.encrypted_password']

/** Those of the configuration, the one that encrypts first, then those that are missing in it. */
export function keysInUse(config: Config, found: readonly KeyUsage[]): UsedKey[] {
  const configured = configuredKeys(config)
  const origins = new Map<string, string>()
  for (const { id, origin } of configured) if (!origins.has(id)) origins.set(id, origin)
  const stored = found.flatMap(({ key_id }) => key_id ?? [])
  return [...new Set([...origins.keys(), ...stored])].map((id, index) => {
    const usage = found.filter(({ key_id }) => key_id === id)
    const rows = sum(usage)
    const origin = origins.get(id)
    return {
      id,
      origin: origin ?? '',
      isCurrent: index === 0,
      isReadable: origin !== undefined,
      mayGo: origin === 'AUTH_ENCRYPTION_OLD_KEYS' && rows === 0,
      rows,
      movable: sum(usage.filter(({ place }) => !fixed.includes(place))),
      usage,
    }
  })
}

function configuredKeys(config: Config): { id: string; origin: string }[] {
  const own = originsOf(config).map(({ origin, key }) => ({ id: keyId(key), origin }))
  const origin = 'AUTH_SECURITY_DB_ENCRYPTION_DECRYPTION_KEYS'
  return [...own, ...takenOverKeys(config).map(({ id }) => ({ id, origin }))]
}

function sum(usage: readonly Pick<KeyUsage, 'rows'>[]): number {
  return usage.reduce((total, { rows }) => total + rows, 0)
}
