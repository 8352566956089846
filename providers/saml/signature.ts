/**
 * XML signatures of identity providers (XML Signature Syntax 1.1), in the profile of SAML 2.0 Core §5.4: one reference,
 * to the element that contains the signature. SignedInfo is verified before anything else is canonicalized, and only
 * canonical text that was signed is read. Libraries search the whole document first, in quadratic time
 * (docs/decisions/2026-11-29-saml-signatures.md).
 */
import { createHash, verify, X509Certificate } from 'node:crypto'

import {
  checkCanonicalization,
  checkTransforms,
  readDigestMethod,
  readSignatureMethod,
} from './algorithms.ts'
import { messageLimits, type XmlLimits } from './markup.ts'
import { readBase64, SamlError } from './values.ts'
import {
  childrenNamed,
  countNodes,
  elementText,
  isNamed,
  listAncestors,
  parseXml,
  type XmlDocument,
  type XmlElement,
} from './xml.ts'

/** Of SignedInfo, which has about 25 in the messages of identity providers. */
const maxSignedInfoNodes = 64

/** Canonicalization repeats namespaces, within the limits of the document that it was made of. */
const canonicalLimits: XmlLimits = { ...messageLimits, bytes: 1_048_576, attributes: 8_000 }

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
  element: XmlElement,
  certificates: readonly string[],
): Promise<XmlElement | undefined> {
  const signatures = childrenNamed(element, 'signature', 'Signature')
  const [signature] = signatures
  if (!signature) return undefined
  if (signatures.length > 1) throw new SamlError('an element has more than one signature')
  const reference = readReference(await verifiedSignedInfo(signature, certificates), element)
  const content = await withoutSignature(element, signature, reference.prefixes)
  const digest = createHash(reference.hash).update(content).digest()
  if (!digest.equals(reference.digest)) throw notValid(reference.prefixes)
  const { root } = await parseXml(Buffer.from(content), canonicalLimits)
  if (
    root.localName === element.localName &&
    root.getAttribute('ID') === element.getAttribute('ID')
  ) {
    return root
  }
  throw otherElement()
}

/** SignedInfo as it was signed. */
async function verifiedSignedInfo(
  signature: XmlElement,
  certificates: readonly string[],
): Promise<XmlElement> {
  const info = onlyChild(signature, 'SignedInfo')
  if (countNodes(info) > maxSignedInfoNodes) throw new SamlError('its signature has too many parts')
  checkCanonicalization(getAlgorithm(onlyChild(info, 'CanonicalizationMethod')))
  const hash = readSignatureMethod(getAlgorithm(onlyChild(info, 'SignatureMethod')))
  const value = readBase64(elementText(onlyChild(signature, 'SignatureValue')))
  const prefixes = readPrefixes(onlyChild(info, 'CanonicalizationMethod'))
  const canonical = Buffer.from(await canonicalize(info, prefixes))
  if (!certificates.some((each) => verify(hash, canonical, toPem(each), value))) {
    throw notValid(prefixes)
  }
  const { root } = await parseXml(canonical, canonicalLimits)
  return root
}

/** One reference, to the element that contains the signature. */
function readReference(info: XmlElement, element: XmlElement) {
  const [reference, ...others] = childrenNamed(info, 'signature', 'Reference')
  const id = element.getAttribute('ID')
  const isOwn = id !== '' && reference?.getAttribute('URI') === `#${id}`
  if (!reference || others.length > 0 || !isOwn) throw otherElement()
  const hash = readDigestMethod(getAlgorithm(onlyChild(reference, 'DigestMethod')))
  const transforms = childrenNamed(onlyChild(reference, 'Transforms'), 'signature', 'Transform')
  checkTransforms(transforms.map(getAlgorithm))
  const digest = readBase64(elementText(onlyChild(reference, 'DigestValue')))
  return { hash, digest, prefixes: transforms.flatMap(readPrefixes) }
}

/** The canonical text of the element without its signature, which is put back. */
async function withoutSignature(
  element: XmlElement,
  signature: XmlElement,
  prefixes: readonly string[],
): Promise<string> {
  const { nextSibling } = signature
  element.removeChild(signature)
  try {
    return await canonicalize(element, prefixes)
  } finally {
    element.insertBefore(signature, nextSibling)
  }
}

/** Exclusive canonicalization. `prefixes` are those of InclusiveNamespaces. */
async function canonicalize(element: XmlElement, prefixes: readonly string[]): Promise<string> {
  const { ExclusiveCanonicalization } = await import('xml-crypto')
  return new ExclusiveCanonicalization().process(element, {
    inclusiveNamespacesPrefixList: [...prefixes],
    ancestorNamespaces: ancestorNamespaces(element),
  })
}

/** The declarations that apply to the element and are not its own, by prefix: the library prefers them to its own. */
function ancestorNamespaces(element: XmlElement): { prefix: string; namespaceURI: string }[] {
  const found = new Map<string, string>()
  for (const { name, value } of listAncestors(element).flatMap(listAttributes)) {
    const [declares, prefix] = name.split(':')
    if (declares !== 'xmlns' || !prefix || found.has(prefix)) continue
    if (element.getAttribute(name) === '') found.set(prefix, value)
  }
  return [...found].map(([prefix, namespaceURI]) => ({ prefix, namespaceURI }))
}

/** InclusiveNamespaces of a Transform or CanonicalizationMethod. */
function readPrefixes(method: XmlElement): string[] {
  return childrenNamed(method, 'exclusive', 'InclusiveNamespaces').flatMap((each) =>
    each.getAttribute('PrefixList').split(/\s+/).filter(Boolean),
  )
}

function onlyChild(element: XmlElement, name: string): XmlElement {
  const [child, ...others] = childrenNamed(element, 'signature', name)
  if (child && others.length === 0) return child
  throw new SamlError(`its signature must have exactly one ${name}`)
}

const listAttributes = ({ attributes }: XmlElement) => Array.from(attributes)
const getAlgorithm = (element: XmlElement) => element.getAttribute('Algorithm')

/** The library ignores the default namespace among the prefixes, which changes few documents. */
function notValid(prefixes: readonly string[]): SamlError {
  if (!prefixes.includes('#default')) return new SamlError('its signature is not valid')
  return new SamlError(
    'its signature is not valid, or its InclusiveNamespaces has #default, which is not supported. Have the identity provider leave out InclusiveNamespaces',
  )
}

const otherElement = () => new SamlError('its signature covers another element')

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
