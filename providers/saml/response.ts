/** An identity provider's response, and its single signed assertion. */
import { decryptAssertion } from './decrypt.ts'
import { messageLimits } from './markup.ts'
import { checkPlaces, verifiedContent } from './signature.ts'
import { describeStatus, isSuccess } from './status.ts'
import { readBase64, SamlError } from './values.ts'
import {
  childrenNamed,
  elementText,
  isNamed,
  parseXml,
  type XmlDocument,
  type XmlElement,
} from './xml.ts'

export interface SamlResponse {
  document: XmlDocument
  /** The claimed issuer, before verification. */
  issuer: string
  inResponseTo: string
  destination: string
  issueInstant: string
}

/** Parses the posted base64 XML. Throws SamlError. Nothing is verified yet. */
export async function readResponse(posted: string): Promise<SamlResponse> {
  const document = await parseXml(readBase64(posted), messageLimits)
  const { root } = document
  if (!isNamed(root, 'protocol', 'Response')) throw new SamlError('it is not a SAML 2.0 Response')
  return {
    document,
    issuer: elementText(childrenNamed(root, 'assertion', 'Issuer')[0]) || issuerOfAssertion(root),
    inResponseTo: root.getAttribute('InResponseTo'),
    destination: root.getAttribute('Destination'),
    issueInstant: root.getAttribute('IssueInstant'),
  }
}

function issuerOfAssertion(root: XmlElement): string {
  const [assertion] = childrenNamed(root, 'assertion', 'Assertion')
  return assertion ? elementText(childrenNamed(assertion, 'assertion', 'Issuer')[0]) : ''
}

interface ResponseKeys {
  /** From the provider's metadata, base64 of DER. */
  certificates: readonly string[]
  /** PEM; empty when encrypted assertions are not accepted. */
  decryptionKeys: readonly string[]
}

interface VerifiedResponse {
  assertion: XmlElement
  isResponseSigned: boolean
}

/**
 * Returns the assertion as it was signed, by itself or with the response. Every signature present must be valid. Throws
 * SamlError.
 */
export async function verifyResponse(
  { document }: SamlResponse,
  { certificates, decryptionKeys }: ResponseKeys,
): Promise<VerifiedResponse> {
  if (!isSuccess(document.root)) {
    const why = describeStatus(document.root)
    throw new SamlError(`the identity provider did not sign the user in${why && `. ${why}`}`)
  }
  const found = onlyAssertion(document)
  checkPlaces(document, [document.root, found])
  const response = await verifiedContent(document.root, certificates)
  const isResponseSigned = response !== undefined
  if (found.localName === 'EncryptedAssertion') {
    if (decryptionKeys.length === 0) {
      throw new SamlError(
        'encrypted assertions are not accepted. Set AUTH_SAML_ALLOW_ENCRYPTED_ASSERTIONS=true, or have the identity provider send them without encryption',
      )
    }
    const [signed] = response ? childrenNamed(response, 'assertion', 'EncryptedAssertion') : [found]
    const keys = { certificates, decryptionKeys }
    const assertion = await verifyDecrypted(signed ?? found, keys, isResponseSigned)
    return { assertion, isResponseSigned }
  }
  const signed = await verifiedContent(found, certificates)
  const assertion = signed ?? (response && onlyChild(response))
  if (!assertion) throw notSigned()
  return { assertion, isResponseSigned }
}

/** One message for every failure: differences would be a decryption oracle (CBC has no integrity protection). */
async function verifyDecrypted(
  encrypted: XmlElement,
  { certificates, decryptionKeys }: ResponseKeys,
  isResponseSigned: boolean,
): Promise<XmlElement> {
  try {
    const plain = await decryptAssertion(encrypted, decryptionKeys)
    return await verifyPlain(plain, certificates, isResponseSigned)
  } catch (cause) {
    throw new SamlError('its encrypted assertion cannot be used', { cause })
  }
}

async function verifyPlain(
  plain: XmlDocument,
  certificates: readonly string[],
  isResponseSigned: boolean,
): Promise<XmlElement> {
  const { root } = plain
  if (!isNamed(root, 'assertion', 'Assertion')) {
    throw new SamlError('the encrypted element is not an assertion')
  }
  if (plain.elements.some((element) => element !== root && isAssertion(element))) {
    throw new SamlError('it has more than one assertion')
  }
  checkPlaces(plain, [root])
  const signed = await verifiedContent(root, certificates)
  if (signed) return signed
  if (!isResponseSigned) throw notSigned()
  return root
}

const notSigned = () =>
  new SamlError(
    'neither it nor its assertion is signed. Have the identity provider sign the assertion',
  )

/** Exactly one in the whole document, at the expected position, against signature wrapping. */
function onlyAssertion({ root, elements }: XmlDocument): XmlElement {
  const [assertion, another] = elements.filter(isAssertion)
  if (!assertion) throw new SamlError('it has no assertion')
  if (another) throw new SamlError('it has more than one assertion')
  if (assertion.parentNode !== root) throw new SamlError('its assertion is out of place')
  return assertion
}

function onlyChild(response: XmlElement): XmlElement | undefined {
  const [assertion, ...others] = childrenNamed(response, 'assertion', 'Assertion')
  return others.length === 0 ? assertion : undefined
}

function isAssertion({ localName }: XmlElement): boolean {
  return localName === 'Assertion' || localName === 'EncryptedAssertion'
}
