/** The keys of a configuration: which of them encrypt, and which only read what others encrypted. */
import { createHash, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto'

import type { Config } from '../config/config.ts'

export interface NamedKey {
  id: string
  key: Buffer
}

/**
 * A 32-byte key for one purpose (HKDF, RFC 5869). A key object, as node:crypto is best given: it tries a bare buffer as
 * other kinds of keys first, which takes longer than the work itself.
 */
export function derive(key: Buffer, info: string): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', createSecretKey(key), '', info, 32)))
}

/** What is stored beside each value, so that it is known which key reads it. */
export function keyId(key: Buffer): string {
  return createHash('sha256').update('postern key id').update(key).digest('hex').slice(0, 16)
}

export type EncryptionSettings = Pick<
  Config,
  | 'AUTH_ENCRYPTION_KEY'
  | 'AUTH_ENCRYPTION_NEXT_KEY'
  | 'AUTH_ENCRYPTION_OLD_KEYS'
  | 'AUTH_JWT_SECRET'
>

/** Where a key stands in the configuration. */
export type KeyOrigin = keyof EncryptionSettings

/** The one that encrypts first, then all others that read. */
export function originsOf(config: EncryptionSettings): [ConfiguredKey, ...ConfiguredKey[]] {
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

export interface ConfiguredKey {
  origin: KeyOrigin
  key: Buffer
}

function given(origin: KeyOrigin, text: string): ConfiguredKey {
  return { origin, key: Buffer.from(text, 'base64url') }
}

/** The key that is made from the secret where there is none of its own. */
export function keyOfSecret({ AUTH_JWT_SECRET }: Pick<Config, 'AUTH_JWT_SECRET'>): Buffer {
  return derive(Buffer.from(AUTH_JWT_SECRET), 'postern encryption key').export()
}

/** The keys alone, the one that encrypts first. */
export function encryptionKeys(config: EncryptionSettings): [Buffer, ...Buffer[]] {
  const [current, ...others] = originsOf(config)
  return [current.key, ...others.map(({ key }) => key)]
}

/** Of a database that GoTrue made: those it read with, and the one it wrote with. */
export function takenOverKeys(
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
