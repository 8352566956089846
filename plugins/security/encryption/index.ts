/**
 * Encryption at rest: AES-256-GCM under a key derived by HKDF (RFC 5869) from AUTH_ENCRYPTION_KEY and the row's id, in
 * GoTrue's stored format. All other server-side keys derive from here too.
 */
import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto'

import type { Config } from '../../../config/groups/index.ts'
import { definePlugin } from '../../define-plugin.ts'
import {
  derive,
  encryptionKeyId,
  encryptionKeys,
  gotrueEncryptionKeys,
  type NamedKey,
} from './keys.ts'

declare module 'fastify' {
  interface FastifyInstance {
    encryption: Encryption
  }
}

export type Encryption = ReturnType<typeof createEncryption>

/** A stored value was encrypted under a key that is not configured. */
export class DecryptionError extends Error {
  constructor(what: string, keyId: string) {
    const hint = ownKeyId.test(keyId)
      ? 'Set AUTH_ENCRYPTION_KEY to the key it was encrypted with, or add that key to AUTH_ENCRYPTION_OLD_KEYS (without AUTH_ENCRYPTION_KEY, the key comes from AUTH_JWT_SECRET).'
      : `Add the key that GoTrue knew as "${keyId}" to AUTH_SECURITY_DB_ENCRYPTION_DECRYPTION_KEYS, or correct it there.`
    super(`${what} cannot be decrypted. ${hint}`)
    this.name = 'DecryptionError'
  }
}

/** The form of our key ids; GoTrue's ids are chosen by its operator. */
const ownKeyId = /^[0-9a-f]{16}$/

/** How GoTrue stores secrets in a shared database: under the operator's key for it, or in plain text. */
interface SharedForm {
  key: NamedKey | undefined
}

interface Stored {
  key_id: string
  alg: 'aes-gcm-hkdf'
  data: string
  nonce: string
}

/**
 * `keys` are 32 bytes each, current first; all decrypt, the first encrypts. `takenOver` are the keys of a GoTrue
 * database by their ids; they decrypt only. The parts are base64 in the stored JSON; the authentication tag is the end
 * of `data`.
 */
export function createEncryption(
  keys: readonly [Buffer, ...Buffer[]],
  takenOver: readonly NamedKey[] = [],
  sharedForm: () => SharedForm | undefined = () => undefined,
) {
  const own = keys.map((key) => ({ id: encryptionKeyId(key), key }))
  const named = [...own, ...takenOver]
  const [current] = keys
  const currentKey = { id: encryptionKeyId(current), key: current }

  return {
    /** Encrypts `plain` bound to the row with this id, so that values cannot be moved between rows. */
    encrypt: (rowId: string, plain: string): string => encryptWith(currentKey, rowId, plain),

    /** As `encrypt`, for a column that GoTrue reads: in its format while the database is shared. */
    seal(rowId: string, plain: string): string {
      const shared = sharedForm()
      if (!shared) return encryptWith(currentKey, rowId, plain)
      return shared.key ? encryptWith(shared.key, rowId, plain) : plain
    },

    /** Whether a value of such a column is stored as `seal` would store it now. */
    isSealed(value: string): boolean {
      const shared = sharedForm()
      const key = shared ? shared.key : currentKey
      return parseStored(value)?.key_id === key?.id
    },

    /** Returns a value that was never encrypted unchanged. Throws DecryptionError for an unknown key. */
    decrypt(rowId: string, value: string, what: string): string {
      const stored = parseStored(value)
      if (!stored) return value
      const key = named.find(({ id }) => id === stored.key_id)?.key
      const plain = key && decryptWith(key, rowId, stored)
      if (plain === undefined) throw new DecryptionError(what, stored.key_id)
      return plain
    },

    isEncrypted: (value: string) => parseStored(value) !== undefined,

    /** Whether `deriveKeys` derives from the key with this id. */
    hasKey: (id: string): boolean => own.some((key) => key.id === id),

    /** The id of the key that encrypts, as stored with each value. */
    currentKeyId: currentKey.id,

    /** False for a plain-text value or one under an older key, which is re-encrypted at its next use. */
    isCurrent: (value: string) => parseStored(value)?.key_id === currentKey.id,

    /** A 32-byte key for one purpose, derived from the current key. */
    deriveKey: (purpose: string): KeyObject => derive(current, purpose),

    /** The same from every configured key, current first, to verify values made with an older key. Derived lazily. */
    deriveKeys: (purpose: string): IteratorObject<KeyObject> =>
      keys.values().map((key) => derive(key, purpose)),
  }
}

function encryptWith({ id, key }: NamedKey, rowId: string, plain: string): string {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', derive(key, rowId), nonce)
  const data = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()])
  const stored: Stored = {
    key_id: id,
    alg: 'aes-gcm-hkdf',
    data: data.toString('base64'),
    nonce: nonce.toString('base64'),
  }
  return JSON.stringify(stored)
}

/** Undefined for a value that was encrypted with another key, or for another row. */
function decryptWith(key: Buffer, rowId: string, stored: Stored): string | undefined {
  const data = Buffer.from(stored.data, 'base64')
  const nonce = Buffer.from(stored.nonce, 'base64')
  const decipher = createDecipheriv('aes-256-gcm', derive(key, rowId), nonce)
  decipher.setAuthTag(data.subarray(-16))
  try {
    return Buffer.concat([decipher.update(data.subarray(0, -16)), decipher.final()]).toString()
  } catch {
    return undefined
  }
}

function parseStored(value: string): Stored | undefined {
  if (!value.startsWith('{')) return undefined
  try {
    const parsed: Partial<Stored> = JSON.parse(value)
    const { key_id, alg, data, nonce } = parsed
    if (alg !== 'aes-gcm-hkdf' || !key_id || !data || !nonce) return undefined
    return { key_id, alg, data, nonce }
  } catch {
    return undefined
  }
}

function configuredForm(config: Config): SharedForm {
  const id = config.AUTH_SECURITY_DB_ENCRYPTION_ENCRYPTION_KEY_ID
  const key = config.AUTH_SECURITY_DB_ENCRYPTION_ENCRYPTION_KEY
  const isOn = config.AUTH_SECURITY_DB_ENCRYPTION_ENCRYPT && id && key
  return { key: isOn ? { id, key: Buffer.from(key, 'base64url') } : undefined }
}

/** For a database that a GoTrue also uses, or not. */
export function configuredEncryption(
  config: Config,
  takeover: Readonly<{ isShared: boolean }>,
): Encryption {
  const shared = configuredForm(config)
  return createEncryption(encryptionKeys(config), gotrueEncryptionKeys(config), () =>
    takeover.isShared ? shared : undefined,
  )
}

export default definePlugin({
  name: 'encryption',
  deps: ['config', 'gotrueMigration'],
  create: ({ config, gotrueMigration: takeover }) => configuredEncryption(config, takeover),
})
