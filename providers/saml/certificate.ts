/**
 * The service provider's certificate. Identity providers pin it, so it is deterministic for a key and host, and
 * identical to GoTrue's: self-signed, serial number 0, valid from 1970 to 2170.
 */
import { createPublicKey, type KeyObject, sign } from 'node:crypto'

import { bits, der, octets, oid, sequence } from './der.ts'

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
