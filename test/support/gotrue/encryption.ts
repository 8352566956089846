/** Values encrypted as by GoTrue: implemented from the description of the format, not by our own code. */
import { createCipheriv, hkdfSync, randomBytes } from 'node:crypto'

/** AES-256-GCM under HKDF-SHA256(key, info = id of the row); the tag is the end of the data. */
export function gotrueSealed(keyId: string, key: Buffer, rowId: string, plain: string): string {
  const nonce = randomBytes(12)
  const derived = Buffer.from(hkdfSync('sha256', key, '', rowId, 32))
  const cipher = createCipheriv('aes-256-gcm', derived, nonce)
  const data = Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()])
  return JSON.stringify({
    key_id: keyId,
    alg: 'aes-gcm-hkdf',
    data: data.toString('base64'),
    nonce: nonce.toString('base64'),
  })
}
