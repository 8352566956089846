/**
 * The service provider's metadata, and its certificate. Identity providers pin the certificate, so it is deterministic
 * for a key and host, and identical to GoTrue's: self-signed, serial number 0, valid from 1970 to 2170.
 */
import { createPublicKey, type KeyObject, sign } from 'node:crypto'

import { escapeXml, namespaces } from './xml.ts'

interface SpMetadataOptions {
  entityId: string
  acsUrl: string
  /** Accepts logout messages with both bindings. */
  logoutUrl: string
  /** Base64 of DER: the current certificate, then the next one. */
  certificates: readonly string[]
  /** Whether assertions may be encrypted with them. */
  encrypts: boolean
  validUntil: Date
  /** xs:duration; how long a copy is valid. */
  cacheDuration: string | undefined
}

const [redirect, post] = ['HTTP-Redirect', 'HTTP-POST'].map(
  (name) => `urn:oasis:names:tc:SAML:2.0:bindings:${name}`,
)
const nameIdFormats = [
  'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress',
  'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent',
]
const encryptionMethods = [
  ...['aes128-cbc', 'aes192-cbc', 'aes256-cbc', 'rsa-oaep-mgf1p'].map(
    (name) => `http://www.w3.org/2001/04/xmlenc#${name}`,
  ),
  ...['aes128-gcm', 'aes256-gcm'].map((name) => `http://www.w3.org/2009/xmlenc11#${name}`),
]

export function spMetadata(options: SpMetadataOptions): string {
  const { entityId, acsUrl, logoutUrl, certificates, encrypts, validUntil, cacheDuration } = options
  const valid = ` validUntil="${validUntil.toISOString()}"`
  const cached = cacheDuration ? ` cacheDuration="${cacheDuration}"` : ''
  const uses = encrypts ? ['signing', 'encryption'] : ['signing']
  const keys = certificates.flatMap((certificate) => uses.map((use) => renderKey(use, certificate)))
  const formats = nameIdFormats.map((format) => `<NameIDFormat>${format}</NameIDFormat>`)
  return [
    `<EntityDescriptor xmlns="${namespaces.metadata}"${valid}${cached} entityID="${escapeXml(entityId)}">`,
    `<SPSSODescriptor xmlns="${namespaces.metadata}"${valid} protocolSupportEnumeration="${namespaces.protocol}" WantAssertionsSigned="true">`,
    ...keys,
    // In the order of the schema (Metadata §2.4.2).
    ...[redirect, post].map(
      (binding) => `<SingleLogoutService Binding="${binding}" Location="${escapeXml(logoutUrl)}"/>`,
    ),
    ...formats,
    `<AssertionConsumerService Binding="${post}" Location="${escapeXml(acsUrl)}" index="1"/>`,
    '</SPSSODescriptor>',
    '</EntityDescriptor>',
  ].join('')
}

function renderKey(use: string, certificate: string): string {
  const methods = use === 'encryption' ? encryptionMethods : []
  return [
    `<KeyDescriptor use="${use}"><KeyInfo xmlns="${namespaces.signature}"><X509Data>`,
    `<X509Certificate>${certificate}</X509Certificate></X509Data></KeyInfo>`,
    ...methods.map((method) => `<EncryptionMethod Algorithm="${method}"/>`),
    '</KeyDescriptor>',
  ].join('')
}

// The part of ASN.1's Distinguished Encoding Rules (X.690) that a certificate needs.

function der(tag: number, ...contents: Uint8Array[]): Buffer {
  const content = Buffer.concat(contents)
  return Buffer.concat([Buffer.from([tag]), encodeLength(content.length), content])
}

const sequence = (...contents: Uint8Array[]) => der(0x30, ...contents)

const octets = (content: Uint8Array) => der(0x04, content)

const bits = (unused: number, content: Uint8Array) => der(0x03, Buffer.from([unused]), content)

/** Dotted, as in 2.5.4.3. */
function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  return der(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]))
}

function base128(value: number): number[] {
  const groups = [value & 0x7f]
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) groups.unshift((rest & 0x7f) | 0x80)
  return groups
}

function encodeLength(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length])
  const hex = length.toString(16)
  const bytes = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex')
  return Buffer.concat([Buffer.from([0x80 | bytes.length]), bytes])
}

interface CertificateOptions {
  privateKey: KeyObject
  /** The host of the service provider, without port. */
  host: string
  /** Whether the key is also used for decryption. */
  encrypts: boolean
}

const sha256WithRsa = sequence(oid('1.2.840.113549.1.1.11'), der(0x05))
const [utcTime, generalizedTime] = [0x17, 0x18]

/** DER. */
export function selfSignedCertificate(options: CertificateOptions): Buffer {
  const { privateKey, host } = options
  const name = encodeName(`SAML 2.0 Certificate for ${host}`)
  const validity = sequence(
    der(utcTime, Buffer.from('700101000000Z')),
    der(generalizedTime, Buffer.from('21700101000000Z')),
  )
  const certificate = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([0])),
    sha256WithRsa,
    name,
    validity,
    name,
    createPublicKey(privateKey).export({ format: 'der', type: 'spki' }),
    der(0xa3, encodeExtensions(options)),
  )
  const signature = sign('sha256', certificate, privateKey)
  return sequence(certificate, sha256WithRsa, bits(0, signature))
}

/** PrintableString if Go's library would use it, else UTF8String. */
function encodeName(commonName: string): Buffer {
  const isPrintable = /^[A-Za-z0-9 '()+,./:=?-]*$/.test(commonName)
  const value = der(isPrintable ? 0x13 : 0x0c, Buffer.from(commonName))
  return sequence(der(0x31, sequence(oid('2.5.4.3'), value)))
}

function encodeExtensions({ host, encrypts }: CertificateOptions): Buffer {
  // digitalSignature is the first bit, dataEncipherment the fourth.
  const usage = encrypts ? bits(4, Buffer.from([0x90])) : bits(7, Buffer.from([0x80]))
  const critical = der(0x01, Buffer.from([0xff]))
  const dnsName = der(0x82, Buffer.from(`_samlsp.${host}`))
  return sequence(
    sequence(oid('2.5.29.15'), critical, octets(usage)),
    sequence(oid('2.5.29.17'), octets(sequence(dnsName))),
  )
}
