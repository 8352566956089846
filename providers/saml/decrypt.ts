/**
 * Encrypted assertions (XML Encryption 1.1). Implemented here because node-saml's library supports neither RSA-OAEP of
 * version 1.1, which Keycloak uses, nor its SHA-2 identifiers.
 */
import { constants, createDecipheriv, privateDecrypt } from 'node:crypto'

import { readBase64 } from './base64.ts'
import { messageLimits } from './markup.ts'
import { SamlError } from './saml-error.ts'
import { childrenNamed, elementText, parseXml, type XmlDocument, type XmlElement } from './xml.ts'

const xmlenc = 'http://www.w3.org/2001/04/xmlenc#'
const xmlenc11 = 'http://www.w3.org/2009/xmlenc11#'
const blockBytes = 16
const tagBytes = 16

type Cipher = 'aes-128-cbc' | 'aes-192-cbc' | 'aes-256-cbc' | GcmCipher
type GcmCipher = 'aes-128-gcm' | 'aes-192-gcm' | 'aes-256-gcm'

const ciphers: Record<string, Cipher> = {
  [`${xmlenc}aes128-cbc`]: 'aes-128-cbc',
  [`${xmlenc}aes192-cbc`]: 'aes-192-cbc',
  [`${xmlenc}aes256-cbc`]: 'aes-256-cbc',
  [`${xmlenc11}aes128-gcm`]: 'aes-128-gcm',
  [`${xmlenc11}aes192-gcm`]: 'aes-192-gcm',
  [`${xmlenc11}aes256-gcm`]: 'aes-256-gcm',
}

const digests: Record<string, string> = {
  'http://www.w3.org/2000/09/xmldsig#sha1': 'sha1',
  [`${xmlenc}sha256`]: 'sha256',
  [`${xmlenc}sha512`]: 'sha512',
  [`${xmlenc11}mgf1sha1`]: 'sha1',
  [`${xmlenc11}mgf1sha256`]: 'sha256',
  [`${xmlenc11}mgf1sha512`]: 'sha512',
}

/** Tries each key, the current one first. Throws SamlError. */
export async function decryptAssertion(
  encrypted: XmlElement,
  privateKeys: readonly string[],
): Promise<XmlDocument> {
  const [data] = childrenNamed(encrypted, 'encryption', 'EncryptedData')
  const wrapped = data && findEncryptedKey(encrypted, data)
  if (!data || !wrapped) throw new SamlError('its encrypted assertion has no key')
  const cipher = lookUp(ciphers, findMethod(data)?.getAttribute('Algorithm') ?? '')
  const oaepHash = getHash(findMethod(wrapped))
  if (!cipher || !oaepHash) throw new SamlError('its encryption algorithm is not allowed')
  for (const key of privateKeys) {
    const plain = tryKey({ key, oaepHash }, wrapped, { cipher, content: readCipherValue(data) })
    if (plain) return parseXml(plain, messageLimits)
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

/** The hash of OAEP and its mask function, which must be equal in Node. Undefined for anything else. */
function getHash(method: XmlElement | undefined): string | undefined {
  if (!method) return undefined
  const algorithm = method.getAttribute('Algorithm')
  const [digest] = childrenNamed(method, 'signature', 'DigestMethod')
  const [mask] = childrenNamed(method, 'encryption11', 'MGF')
  const hash = digest ? lookUp(digests, digest.getAttribute('Algorithm')) : 'sha1'
  if (algorithm === `${xmlenc}rsa-oaep-mgf1p`) return hash === 'sha1' ? hash : undefined
  const maskHash = mask ? lookUp(digests, mask.getAttribute('Algorithm')) : 'sha1'
  return algorithm === `${xmlenc11}rsa-oaep` && hash === maskHash ? hash : undefined
}

/** Own properties only: an inherited name must not count. */
function lookUp<T>(known: Record<string, T>, name: string): T | undefined {
  return Object.hasOwn(known, name) ? known[name] : undefined
}

function readCipherValue(element: XmlElement): Buffer {
  const [data] = childrenNamed(element, 'encryption', 'CipherData')
  return readBase64(elementText(data && childrenNamed(data, 'encryption', 'CipherValue')[0]))
}

function tryKey(
  { key, oaepHash }: { key: string; oaepHash: string },
  wrapped: XmlElement,
  { cipher, content }: { cipher: Cipher; content: Buffer },
): Buffer | undefined {
  const padding = constants.RSA_PKCS1_OAEP_PADDING
  try {
    const secret = privateDecrypt({ key, padding, oaepHash }, readCipherValue(wrapped))
    return isGcm(cipher) ? openGcm(cipher, secret, content) : openCbc(cipher, secret, content)
  } catch {
    return undefined
  }
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
