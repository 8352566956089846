/** Encrypted assertions: every algorithm that is accepted, and those that are not. */
import assert from 'node:assert/strict'
import {
  constants,
  createCipheriv,
  createHash,
  createPublicKey,
  generateKeyPairSync,
  publicEncrypt,
  randomBytes,
} from 'node:crypto'
import { suite, test } from 'node:test'

import { decryptAssertion } from '../../../providers/saml/decrypt.ts'
import { messageLimits } from '../../../providers/saml/markup.ts'
import { parseXml } from '../../../providers/saml/xml.ts'

const xmlenc = 'http://www.w3.org/2001/04/xmlenc#'
const xmlenc11 = 'http://www.w3.org/2009/xmlenc11#'
const dsig = 'http://www.w3.org/2000/09/xmldsig#'

const pair = () =>
  generateKeyPairSync('rsa', { modulusLength: 2048 })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString()
const [own, next] = [pair(), pair()]
const plain = '<a xmlns="urn:x">text that is longer than one block</a>'

interface Options {
  to?: string
  cipher?: string
  method?: string
  hash?: string
  /** Of the mask; `hash` by default. */
  maskHash?: string
  digest?: string | undefined
  mask?: string | undefined
  label?: string
  isKeyOutside?: boolean
  change?: (content: Buffer) => Buffer
}

/** As XML Encryption 1.1 has it. */
function encryptedXml(options: Options = {}): string {
  const { to = own, cipher = 'aes256-gcm', hash = 'sha1', digest, mask, isKeyOutside } = options
  const { maskHash = hash, label = '' } = options
  const { method = `${xmlenc}rsa-oaep-mgf1p`, change = (content) => content } = options
  const [, bits = '256'] = /^aes(\d+)/.exec(cipher) ?? []
  const isGcm = cipher.endsWith('gcm')
  const secret = randomBytes(Number(bits) / 8)
  const iv = randomBytes(isGcm ? 12 : 16)
  const content = isGcm ? gcm(bits, secret, iv) : cbc(bits, secret, iv)
  const key = createPublicKey(to)
  const padded = oaepPad(secret, { hash, maskHash, label })
  const wrapped = publicEncrypt({ key, padding: constants.RSA_NO_PADDING }, padded)
  const value = (content: Buffer) =>
    `<e:CipherData><e:CipherValue>${content.toString('base64')}</e:CipherValue></e:CipherData>`
  const inMethod = [
    digest ? `<ds:DigestMethod xmlns:ds="${dsig}" Algorithm="${digest}"/>` : '',
    mask ? `<f:MGF xmlns:f="${xmlenc11}" Algorithm="${mask}"/>` : '',
    label ? `<e:OAEPparams>${Buffer.from(label).toString('base64')}</e:OAEPparams>` : '',
  ].join('')
  const keyXml = `<e:EncryptedKey xmlns:e="${xmlenc}"><e:EncryptionMethod Algorithm="${method}">${inMethod}</e:EncryptionMethod>${value(wrapped)}</e:EncryptedKey>`
  const prefix = isGcm ? xmlenc11 : xmlenc
  const info = isKeyOutside ? '' : `<ds:KeyInfo xmlns:ds="${dsig}">${keyXml}</ds:KeyInfo>`
  return `<EncryptedAssertion><e:EncryptedData xmlns:e="${xmlenc}"><e:EncryptionMethod Algorithm="${prefix}${cipher}"/>${info}${value(change(Buffer.concat([iv, content])))}</e:EncryptedData>${isKeyOutside ? keyXml : ''}</EncryptedAssertion>`
}

/** EME-OAEP for 2048 bits (RFC 8017 §7.1.1). Node's own has one hash for the digest and the mask. */
function oaepPad(
  message: Buffer,
  { hash, maskHash, label }: { hash: string; maskHash: string; label: string },
): Buffer {
  const digest = createHash(hash).update(label).digest()
  const zeros = Buffer.alloc(256 - message.length - 2 * digest.length - 2)
  const data = Buffer.concat([digest, zeros, Buffer.from([1]), message])
  const seed = randomBytes(digest.length)
  const maskedData = masked(data, seed, maskHash)
  return Buffer.concat([Buffer.from([0]), masked(seed, maskedData, maskHash), maskedData])
}

/** With the mask of the seed, MGF1 (RFC 8017 §B.2.1). */
function masked(bytes: Buffer, seed: Buffer, hash: string): Buffer {
  const blocks = Array.from({ length: 16 }, (_, counter) =>
    createHash(hash)
      .update(seed)
      .update(Buffer.from([0, 0, 0, counter]))
      .digest(),
  )
  const mask = Buffer.concat(blocks)
  return Buffer.from(bytes.map((byte, at) => byte ^ (mask[at] ?? 0)))
}

function gcm(bits: string, secret: Buffer, iv: Buffer): Buffer {
  const cipher = createCipheriv(`aes-${bits}-gcm` as 'aes-256-gcm', secret, iv)
  return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

function cbc(bits: string, secret: Buffer, iv: Buffer): Buffer {
  const cipher = createCipheriv(`aes-${bits}-cbc`, secret, iv)
  return Buffer.concat([cipher.update(plain), cipher.final()])
}

async function decrypt(xml: string, keys = [own, next]): Promise<string> {
  const { root } = await parseXml(Buffer.from(xml), messageLimits)
  return String((await decryptAssertion(root, keys)).root)
}

const oaep = (hash: string, digest: string, mask?: string): Options => ({
  method: `${xmlenc11}rsa-oaep`,
  hash,
  digest,
  mask,
})

const accepted: Record<string, Options> = {
  'AES-128-CBC': { cipher: 'aes128-cbc' },
  'AES-192-CBC': { cipher: 'aes192-cbc' },
  'AES-256-CBC': { cipher: 'aes256-cbc' },
  'AES-128-GCM': { cipher: 'aes128-gcm' },
  'AES-192-GCM': { cipher: 'aes192-gcm' },
  'AES-256-GCM': { cipher: 'aes256-gcm' },
  'RSA-OAEP with the digest named': { digest: `${dsig}sha1` },
  'RSA-OAEP of version 1.1 without parameters': { method: `${xmlenc11}rsa-oaep` },
  'RSA-OAEP with SHA-256': oaep('sha256', `${xmlenc}sha256`, `${xmlenc11}mgf1sha256`),
  'RSA-OAEP with SHA-512': oaep('sha512', `${xmlenc}sha512`, `${xmlenc11}mgf1sha512`),
  'RSA-OAEP with SHA-256 and a mask of SHA-1, as Java has it': {
    ...oaep('sha256', `${xmlenc}sha256`),
    maskHash: 'sha1',
  },
  'RSA-OAEP with SHA-512 and a mask of SHA-256': {
    ...oaep('sha512', `${xmlenc}sha512`, `${xmlenc11}mgf1sha256`),
    maskHash: 'sha256',
  },
  'RSA-OAEP of version 1.0 with SHA-256': {
    hash: 'sha256',
    digest: `${xmlenc}sha256`,
    maskHash: 'sha1',
  },
  'a label': { label: 'label' },
  'a key next to the data': { isKeyOutside: true },
  'the key that follows': { to: next },
}

const notAllowed: Record<string, Options> = {
  'RSA PKCS #1 1.5': { method: `${xmlenc}rsa-1_5` },
  'Triple DES': { cipher: 'tripledes-cbc' },
  'a digest that is a property of every object': oaep('sha1', 'constructor'),
  'a digest that the library reads as SHA-1': oaep('sha1', `${dsig}sha384`),
}

suite('encrypted assertions', () => {
  for (const [title, options] of Object.entries(accepted)) {
    test(`decrypts with ${title}`, async () => {
      assert.equal(await decrypt(encryptedXml(options)), plain)
    })
  }

  for (const [title, options] of Object.entries(notAllowed)) {
    test(`rejects ${title}`, async () => {
      await assert.rejects(decrypt(encryptedXml(options)), /encryption algorithm is not allowed/)
    })
  }

  const undecryptable: Record<string, Options> = {
    'a mask of another hash than is named': oaep('sha256', `${xmlenc}sha256`),
    'a mask that is a property of every object': oaep('sha1', `${dsig}sha1`, 'constructor'),
    'a mask that version 1.0 does not have': {
      digest: `${dsig}sha1`,
      mask: `${xmlenc11}mgf1sha1`,
    },
    'another key': { to: pair() },
    'changed content': {
      change: (content) => Buffer.from(content.map((byte, at) => (at === 20 ? byte ^ 1 : byte))),
    },
    'content without tag': { change: (content) => content.subarray(0, 20) },
    'content of no whole block': { cipher: 'aes128-cbc', change: (content) => content.subarray(1) },
    'no content': { cipher: 'aes128-cbc', change: (content) => content.subarray(0, 16) },
  }
  for (const [title, options] of Object.entries(undecryptable)) {
    test(`rejects ${title}`, async () => {
      await assert.rejects(decrypt(encryptedXml(options)), /cannot be decrypted/)
    })
  }

  test('rejects data without a key', async () => {
    const xml = encryptedXml().replace(/<ds:KeyInfo.*<\/ds:KeyInfo>/, '')
    await assert.rejects(decrypt(xml), /has no key/)
  })
})
