/** XML signatures of identity providers (XML Signature Syntax 1.1), verified with node-saml's library. */
import { X509Certificate } from 'node:crypto'

import { SamlError } from './saml-error.ts'
import {
  childrenNamed,
  isNamed,
  loadXml,
  namespaces,
  parseXml,
  type XmlDocument,
  type XmlElement,
} from './xml.ts'

/** The library's methods without SHA-1, and without HMAC, whose secret would be the public key. */
const signatureMethods = ['256', '512'].map(
  (bits) => `http://www.w3.org/2001/04/xmldsig-more#rsa-sha${bits}`,
)
const digestMethods = [
  'http://www.w3.org/2001/04/xmlenc#sha256',
  'http://www.w3.org/2001/04/xmlenc#sha512',
]
const canonicalizations = [
  'http://www.w3.org/2001/10/xml-exc-c14n#',
  'http://www.w3.org/2001/10/xml-exc-c14n#WithComments',
]
const transforms = [`${namespaces.signature}enveloped-signature`, ...canonicalizations]

/** A signature must be inside the element it signs, against signature wrapping. */
export function checkPlaces({ elements }: XmlDocument, signable: readonly XmlElement[]): void {
  for (const element of elements) {
    if (!isNamed(element, 'signature', 'Signature')) continue
    const { parentNode: parent } = element
    if (!parent || !signable.includes(parent)) {
      throw new SamlError('it has a signature out of place')
    }
  }
}

/**
 * Returns the content that the element's signature covers; undefined without a signature. Throws SamlError unless one
 * of these certificates signed it.
 */
export async function verifiedContent(
  { text }: XmlDocument,
  element: XmlElement,
  certificates: readonly string[],
): Promise<XmlElement | undefined> {
  const signatures = childrenNamed(element, 'signature', 'Signature')
  const [signature] = signatures
  if (!signature) return undefined
  if (signatures.length > 1) throw new SamlError('an element has more than one signature')
  checkAlgorithms(signature)
  checkReference(signature, element)
  const { root } = await parseXml(Buffer.from(await verify(text, element, certificates)))
  if (
    root.localName === element.localName &&
    root.getAttribute('ID') === element.getAttribute('ID')
  ) {
    return root
  }
  throw new SamlError('its signature covers another element')
}

async function verify(text: string, element: XmlElement, certificates: readonly string[]) {
  const { getVerifiedXml } = await loadXml()
  let content: string | null = null
  try {
    content = getVerifiedXml(text, element, certificates.map(toPem))
  } catch {
    // The library's reason is not used: an invalid signature is enough.
  }
  if (content === null) throw new SamlError('its signature is not valid')
  return content
}

/** A map: a document may name an element like a property that every object has. */
const allowedAlgorithms: ReadonlyMap<string, readonly string[]> = new Map([
  ['SignatureMethod', signatureMethods],
  ['DigestMethod', digestMethods],
  ['CanonicalizationMethod', canonicalizations],
  ['Transform', transforms],
])

function checkAlgorithms(signature: XmlElement): void {
  for (const { localName, algorithm } of algorithmsIn(signature)) {
    if (allowedAlgorithms.get(localName)?.includes(algorithm) === false) {
      throw new SamlError(`its ${localName} is not allowed`)
    }
  }
}

function algorithmsIn(element: XmlElement): { localName: string; algorithm: string }[] {
  const own = { localName: element.localName, algorithm: element.getAttribute('Algorithm') }
  const children = Array.from(element.childNodes).filter(({ nodeType }) => nodeType === 1)
  return [own, ...children.flatMap(algorithmsIn)]
}

/** Requires one reference, to the element that contains the signature. */
function checkReference(signature: XmlElement, element: XmlElement): void {
  const infos = childrenNamed(signature, 'signature', 'SignedInfo')
  const references = infos.flatMap((info) => childrenNamed(info, 'signature', 'Reference'))
  const [reference] = references
  const id = element.getAttribute('ID')
  const isOwn = id !== '' && reference?.getAttribute('URI') === `#${id}`
  if (infos.length !== 1 || references.length !== 1 || !isOwn) {
    throw new SamlError('its signature covers another element')
  }
}

/** Converts metadata's base64 DER, which may contain line breaks. */
export function toPem(certificate: string): string {
  const base64 = certificate.replace(/\s+/g, '').replace(/(.{64})(?!$)/g, '$1\n')
  return `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`
}

/**
 * Whether it is an RSA certificate of sufficient strength. Its dates are ignored, because the key is trusted through
 * the metadata.
 */
export function isUsableCertificate(certificate: string): boolean {
  try {
    const { publicKey } = new X509Certificate(toPem(certificate))
    const bits = publicKey.asymmetricKeyDetails?.modulusLength ?? 0
    return publicKey.asymmetricKeyType === 'rsa' && bits >= 2048
  } catch {
    return false
  }
}
