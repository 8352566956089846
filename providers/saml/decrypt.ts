/**
 * Encrypted assertions (XML Encryption 1.1). The library unwraps the key. The content is decrypted here: the library
 * lacks AES-192, and replaces bytes that are not UTF-8 (docs/decisions/2026-11-30-libraries-tried.md).
 */
import { createDecipheriv } from 'node:crypto'

import { messageLimits } from './markup.ts'
import { readBase64, SamlError } from './values.ts'
import { childrenNamed, elementText, parseXml, type XmlDocument, type XmlElement } from './xml.ts'

const xmlenc = 'http://www.w3.org/2001/04/xmlenc#'
const xmlenc11 = 'http://www.w3.org/2009/xmlenc11#'
const blockBytes = 16
const tagBytes = 16

type Cipher = 'aes-128-cbc' | 'aes-192-cbc' | 'aes-256-cbc' | GcmCipher
type GcmCipher = 'aes-128-gcm' | 'aes-192-gcm' | 'aes-256-gcm'

const ciphers: ReadonlyMap<string, Cipher> = new Map([
  [`${xmlenc}aes128-cbc`, 'aes-128-cbc'],
  [`${xmlenc}aes192-cbc`, 'aes-192-cbc'],
  [`${xmlenc}aes256-cbc`, 'aes-256-cbc'],
  [`${xmlenc11}aes128-gcm`, 'aes-128-gcm'],
  [`${xmlenc11}aes192-gcm`, 'aes-192-gcm'],
  [`${xmlenc11}aes256-gcm`, 'aes-256-gcm'],
])

/** No RSA PKCS #1 1.5, whose padding is an oracle (Bleichenbacher). */
const keyTransports = [`${xmlenc}rsa-oaep-mgf1p`, `${xmlenc11}rsa-oaep`]
/** The library reads any other digest as SHA-1. */
const digests = ['http://www.w3.org/2000/09/xmldsig#sha1', `${xmlenc}sha256`, `${xmlenc}sha512`]

/** Tries each key, the current one first. Throws SamlError. */
export async function decryptAssertion(
  encrypted: XmlElement,
  privateKeys: readonly string[],
): Promise<XmlDocument> {
  const [data] = childrenNamed(encrypted, 'encryption', 'EncryptedData')
  const wrapped = data && findEncryptedKey(encrypted, data)
  if (!data || !wrapped) throw new SamlError('its encrypted assertion has no key')
  const cipher = ciphers.get(findMethod(data)?.getAttribute('Algorithm') ?? '')
  if (!cipher || !isKeyAllowed(wrapped)) {
    throw new SamlError('its encryption algorithm is not allowed')
  }
  const content = readCipherValue(data)
  // The library finds a key in its KeyInfo only, and some providers send it next to the data.
  const keyInfo = `<KeyInfo>${wrapped}</KeyInfo>`
  const { decryptKeyInfo } = await import('xml-encryption')
  for (const key of privateKeys) {
    let plain: Buffer
    try {
      const secret = decryptKeyInfo(keyInfo, { key })
      plain = isGcm(cipher) ? openGcm(cipher, secret, content) : openCbc(cipher, secret, content)
    } catch {
      continue
    }
    return parseXml(plain, messageLimits)
  }
  throw new SamlError('its assertion cannot be decrypted')
}

/** In the KeyInfo, or next to the data. */
function findEncryptedKey(encrypted: XmlElement, data: XmlElement): XmlElement | undefined {
  const parents = [...childrenNamed(data, 'signature', 'KeyInfo'), encrypted]
  return parents.flatMap((parent) => childrenNamed(parent, 'encryption', 'EncryptedKey'))[0]
}

function findMethod(element: XmlElement): XmlElement | undefined {
  return childrenNamed(element, 'encryption', 'EncryptionMethod')[0]
}

function isKeyAllowed(wrapped: XmlElement): boolean {
  const method = findMethod(wrapped)
  if (!method || !keyTransports.includes(method.getAttribute('Algorithm'))) return false
  return childrenNamed(method, 'signature', 'DigestMethod').every((digest) =>
    digests.includes(digest.getAttribute('Algorithm')),
  )
}

function readCipherValue(element: XmlElement): Buffer {
  const [data] = childrenNamed(element, 'encryption', 'CipherData')
  return readBase64(elementText(data && childrenNamed(data, 'encryption', 'CipherValue')[0]))
}

const isGcm = (cipher: Cipher): cipher is GcmCipher => cipher.endsWith('gcm')

function openGcm(cipher: GcmCipher, secret: Buffer, content: Buffer): Buffer {
  const [iv, end] = [content.subarray(0, 12), content.length - tagBytes]
  const decipher = createDecipheriv(cipher, secret, iv, { authTagLength: tagBytes })
  decipher.setAuthTag(content.subarray(end))
  return Buffer.concat([decipher.update(content.subarray(12, end)), decipher.final()])
}

/** The last byte is the length of the padding, whose content is arbitrary (XML Encryption §5.2). */
function openCbc(cipher: Cipher, secret: Buffer, content: Buffer): Buffer {
  const decipher = createDecipheriv(cipher, secret, content.subarray(0, blockBytes))
  decipher.setAutoPadding(false)
  const padded = Buffer.concat([decipher.update(content.subarray(blockBytes)), decipher.final()])
  const count = padded.at(-1) ?? 0
  if (count < 1 || count > blockBytes) throw new RangeError('padding')
  return padded.subarray(0, padded.length - count)
}
