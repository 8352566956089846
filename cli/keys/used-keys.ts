/** Combines the configured keys with those in use. */
import type { Config } from '../../config/groups/index.ts'
import { type KeyUsage, recoveryCodeDigests, waitingJobs } from '../../db/keys/encryption.ts'
import {
  encryptionKeyId,
  gotrueEncryptionKeys,
  listConfiguredKeys,
} from '../../plugins/security/encryption/keys.ts'

export interface UsedKey {
  id: string
  /** The variable of the key. */
  origin: string
  isCurrent: boolean
  isReadable: boolean
  /** An old key that no stored value needs. */
  mayGo: boolean
  rows: number
  /** Rows that `reencrypt` stores under the current key. */
  movable: number
  usage: Pick<KeyUsage, 'place' | 'rows'>[]
}

/** Values that cannot be re-encrypted: they expire, or the user replaces them. */
const fixed: readonly string[] = [recoveryCodeDigests, waitingJobs, 'users.encrypted_password']

/** The configured keys, the current one first, then missing ones. */
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
  const own = listConfiguredKeys(config).map(({ origin, key }) => ({
    id: encryptionKeyId(key),
    origin,
  }))
  const origin = 'AUTH_SECURITY_DB_ENCRYPTION_DECRYPTION_KEYS'
  return [...own, ...gotrueEncryptionKeys(config).map(({ id }) => ({ id, origin }))]
}

function sum(usage: readonly Pick<KeyUsage, 'rows'>[]): number {
  return usage.reduce((total, { rows }) => total + rows, 0)
}
