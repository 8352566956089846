/** Combines the configured encryption keys with those in use, and names the next step of a rotation. */
import type { Config } from '../../config/groups/index.ts'
import { type KeyUsage, recoveryCodeDigests, waitingJobs } from '../../db/keys/encryption.ts'
import {
  encryptionKeyId,
  gotrueEncryptionKeys,
  keyOfSecret,
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

export interface ScheduledKeyChange {
  /** An empty value removes the variable. */
  variables: Record<string, string>
  /** The action after they are set. */
  advice: string
}

/**
 * Returns the variables of the next step of a rotation. Each step must reach every replica before the next: every replica
 * must be able to decrypt with a key before it encrypts, and a key is removed when no value needs it. Throws an Error with
 * one sentence when another step is required first.
 */
export function nextChange(
  config: Config,
  keys: readonly UsedKey[],
  newKey: () => string,
): ScheduledKeyChange {
  if (!config.AUTH_ENCRYPTION_KEY) return setDerivedKey(config)
  if (config.AUTH_ENCRYPTION_NEXT_KEY) return swap(config, config.AUTH_ENCRYPTION_KEY)
  const old = keys.filter(({ origin }) => origin === 'AUTH_ENCRYPTION_OLD_KEYS')
  if (old.some(({ mayGo }) => mayGo)) return retire(config, old)
  if (old.some(({ movable }) => movable > 0)) {
    throw new Error(
      'Keys of AUTH_ENCRYPTION_OLD_KEYS are still in use: run `npm run keys -- encryption reencrypt` first.',
    )
  }
  return {
    variables: { AUTH_ENCRYPTION_NEXT_KEY: newKey() },
    advice:
      'Step 1 of 3: set AUTH_ENCRYPTION_NEXT_KEY on every replica and restart them one by one; they decrypt with it and encrypt as before. Then run this again.',
  }
}

/** Sets the key derived from the secret as a variable: it is the same key, so stored data is unaffected. */
function setDerivedKey(config: Config): ScheduledKeyChange {
  return {
    variables: { AUTH_ENCRYPTION_KEY: keyOfSecret(config).toString('base64url') },
    advice:
      'This is the key that was derived from AUTH_JWT_SECRET. Set it on every replica and restart them one by one; AUTH_JWT_SECRET can then be changed. To change the key as well, run this again.',
  }
}

function swap(config: Config, current: string): ScheduledKeyChange {
  const { AUTH_ENCRYPTION_NEXT_KEY: next = '', AUTH_ENCRYPTION_OLD_KEYS: old } = config
  return {
    variables: {
      AUTH_ENCRYPTION_KEY: next,
      AUTH_ENCRYPTION_NEXT_KEY: '',
      AUTH_ENCRYPTION_OLD_KEYS: [current, ...old].join(','),
    },
    advice:
      'Step 2 of 3: set these on every replica and restart them one by one. When the last one has them, run `npm run keys -- encryption reencrypt`, then this again.',
  }
}

function retire(config: Config, old: readonly UsedKey[]): ScheduledKeyChange {
  const needed = new Set(old.filter(({ mayGo }) => !mayGo).map(({ id }) => id))
  const kept = config.AUTH_ENCRYPTION_OLD_KEYS.filter((key) =>
    needed.has(encryptionKeyId(Buffer.from(key, 'base64url'))),
  )
  return {
    variables: { AUTH_ENCRYPTION_OLD_KEYS: kept.join(',') },
    advice:
      'Step 3 of 3: no stored data needs the removed key. Set this on every replica and restart them one by one, once codes that were emailed before step 2 have expired.',
  }
}
