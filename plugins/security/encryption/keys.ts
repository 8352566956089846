/** The configured keys: which ones encrypt, and which ones only decrypt. */
import { createHash, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto'

import type { Config } from '../../../config/groups/index.ts'

export interface NamedKey {
  id: string
  key: Buffer
}

/**
 * A 32-byte key for one purpose (HKDF, RFC 5869). A key object, because node:crypto first tries a bare buffer as other
 * key types, which takes longer than the derivation.
 */
export function derive(key: Buffer, info: string): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', createSecretKey(key), '', info, 32)))
}

/** Stored with each value to identify its key. */
export function encryptionKeyId(key: Buffer): string {
  return createHash('sha256').update('postern key id').update(key).digest('hex').slice(0, 16)
}

type EncryptionSettings = Pick<
  Config,
  | 'AUTH_ENCRYPTION_KEY'
  | 'AUTH_ENCRYPTION_NEXT_KEY'
  | 'AUTH_ENCRYPTION_OLD_KEYS'
  | 'AUTH_JWT_SECRET'
>

/** The settings that hold keys. */
type KeyOrigin = keyof EncryptionSettings

/** The encrypting key first, then all others that decrypt. */
export function listConfiguredKeys(
  config: EncryptionSettings,
): [ConfiguredKey, ...ConfiguredKey[]] {
  const { AUTH_ENCRYPTION_KEY, AUTH_ENCRYPTION_NEXT_KEY, AUTH_ENCRYPTION_OLD_KEYS } = config
  const others: ConfiguredKey[] = [
    ...(AUTH_ENCRYPTION_NEXT_KEY
      ? [given('AUTH_ENCRYPTION_NEXT_KEY', AUTH_ENCRYPTION_NEXT_KEY)]
      : []),
    ...AUTH_ENCRYPTION_OLD_KEYS.map((key) => given('AUTH_ENCRYPTION_OLD_KEYS', key)),
  ]
  const fromSecret = { origin: 'AUTH_JWT_SECRET' as const, key: keyOfSecret(config) }
  if (!AUTH_ENCRYPTION_KEY) return [fromSecret, ...others]
  return [given('AUTH_ENCRYPTION_KEY', AUTH_ENCRYPTION_KEY), ...others, fromSecret]
}

interface ConfiguredKey {
  origin: KeyOrigin
  key: Buffer
}

function given(origin: KeyOrigin, text: string): ConfiguredKey {
  return { origin, key: Buffer.from(text, 'base64url') }
}

/** The key derived from the JWT secret when none is configured. */
export function keyOfSecret({ AUTH_JWT_SECRET }: Pick<Config, 'AUTH_JWT_SECRET'>): Buffer {
  return derive(Buffer.from(AUTH_JWT_SECRET), 'postern encryption key').export()
}

/** The keys only, the encrypting one first. */
export function encryptionKeys(config: EncryptionSettings): [Buffer, ...Buffer[]] {
  const [current, ...others] = listConfiguredKeys(config)
  return [current.key, ...others.map(({ key }) => key)]
}

/** The keys of a GoTrue database: those it reads with, and the one it writes with. */
export function gotrueEncryptionKeys(
  config: Pick<
    Config,
    | 'AUTH_SECURITY_DB_ENCRYPTION_DECRYPTION_KEYS'
    | 'AUTH_SECURITY_DB_ENCRYPTION_ENCRYPTION_KEY'
    | 'AUTH_SECURITY_DB_ENCRYPTION_ENCRYPTION_KEY_ID'
  >,
): NamedKey[] {
  const id = config.AUTH_SECURITY_DB_ENCRYPTION_ENCRYPTION_KEY_ID
  const current = config.AUTH_SECURITY_DB_ENCRYPTION_ENCRYPTION_KEY
  const keys = Object.entries(config.AUTH_SECURITY_DB_ENCRYPTION_DECRYPTION_KEYS)
  return [...keys, ...(id && current ? [[id, current] as const] : [])].map(([name, key]) => ({
    id: name,
    key: Buffer.from(key, 'base64url'),
  }))
}
