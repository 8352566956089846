/** Parts of metadata and responses in the forms of vendors. */
import { sign as signBytes } from 'node:crypto'

import { parseDomFromString, xpath } from '@node-saml/node-saml/lib/xml.js'
import { ExclusiveCanonicalization, SignedXml } from 'xml-crypto'

import { toPem } from '../../../providers/saml/signature.ts'
import type { Idp } from './idp.ts'

export interface Vendor {
  entityId: string
  /** Of this certificate. */
  metadata(certificate: string): string
  /** Builds the response to a request of the server, with a signature that the administrator chose. */
  response(idp: Idp, requestId: string, signature?: SignatureShape): string
  /** With this certificate of the server, if the provider encrypts assertions. */
  encrypted?(idp: Idp, requestId: string, certificate: string): Promise<string>
}

export const assertionNamespace = 'urn:oasis:names:tc:SAML:2.0:assertion'
export const protocol = 'urn:oasis:names:tc:SAML:2.0:protocol'
export const binding = 'urn:oasis:names:tc:SAML:2.0:bindings:'
export const emailFormat = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress'
export const xmlsoap = 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims'
export const microsoft = 'http://schemas.microsoft.com/identity/claims'
const acsUrl = 'http://auth.example/sso/saml/acs'
const audience = 'http://auth.example/sso/saml/metadata'

interface Shape {
  /** Of the elements of the assertion, with colon. */
  prefix: string
  /** Of the elements of the response, with colon. */
  protocolPrefix: string
  nameId: string
  attributes: string
  /** Further attributes of the response. */
  more?: string
  /** Further attributes of SubjectConfirmationData. */
  confirmed?: string
  /** Further attributes of AuthnStatement. */
  authenticated?: string
  /** Inside AuthnStatement, before AuthnContext. */
  locality?: string
  /** Of the issuers. */
  issuerFormat?: string
  /** Changes a time as it is written. */
  time?: (iso: string) => string
}

/** Prefixes and declarations are where each vendor has them: a signature covers them. */
export function createResponse({ entityId }: Idp, requestId: string, shape: Shape): string {
  const { prefix: a, protocolPrefix: p, nameId, attributes, more = '' } = shape
  const { confirmed = '', authenticated = '', locality = '', time = (iso) => iso } = shape
  const id = () => `_${crypto.randomUUID()}`
  const at = (seconds: number) => time(new Date(Date.now() + seconds * 1000).toISOString())
  const declared =
    a === '' ? `xmlns="${assertionNamespace}"` : `xmlns:${a.slice(0, -1)}="${assertionNamespace}"`
  const assertionId = id()
  const format = shape.issuerFormat ? ` Format="${shape.issuerFormat}"` : ''
  const issuer = `<${a}Issuer${format}>${entityId}</${a}Issuer>`
  const confirmation = `<${a}SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer"><${a}SubjectConfirmationData InResponseTo="${requestId}" NotOnOrAfter="${at(300)}" Recipient="${acsUrl}"${confirmed}/></${a}SubjectConfirmation>`
  const assertion = `<${a}Assertion ${declared} ID="${assertionId}" IssueInstant="${at(0)}" Version="2.0">${issuer}<${a}Subject>${nameId}${confirmation}</${a}Subject><${a}Conditions NotBefore="${at(-300)}" NotOnOrAfter="${at(300)}"><${a}AudienceRestriction><${a}Audience>${audience}</${a}Audience></${a}AudienceRestriction></${a}Conditions><${a}AttributeStatement>${attributes}</${a}AttributeStatement><${a}AuthnStatement AuthnInstant="${at(-5)}" SessionIndex="${assertionId}"${authenticated}>${locality}<${a}AuthnContext><${a}AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport</${a}AuthnContextClassRef></${a}AuthnContext></${a}AuthnStatement></${a}Assertion>`
  return `<${p}Response xmlns:${p.slice(0, -1)}="${protocol}" ID="${id()}" Version="2.0" IssueInstant="${at(0)}" Destination="${acsUrl}" InResponseTo="${requestId}"${more}>${issuer.replace(`${a}Issuer`, `${a}Issuer ${declared}`)}<${p}Status><${p}StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Success"/></${p}Status>${assertion}</${p}Response>`
}

export interface SignatureShape {
  /** Of its elements. */
  prefix?: string
  /** InclusiveNamespaces of the canonicalization. */
  inclusive?: string[]
  method?: string
  digest?: string
  canonicalization?: string
}

export function sign(
  xml: string,
  name: 'Response' | 'Assertion',
  { privateKey, certificate }: Idp,
  options: SignatureShape = {},
): string {
  const { prefix, inclusive = [] } = options
  const exclusive = 'http://www.w3.org/2001/10/xml-exc-c14n#'
  const element = `//*[local-name(.)='${name}']`
  const signature = new SignedXml({
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    publicCert: toPem(certificate),
    signatureAlgorithm: options.method ?? 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
    canonicalizationAlgorithm: options.canonicalization ?? exclusive,
  })
  signature.addReference({
    xpath: element,
    transforms: ['http://www.w3.org/2000/09/xmldsig#enveloped-signature', exclusive],
    digestAlgorithm: options.digest ?? 'http://www.w3.org/2001/04/xmlenc#sha256',
    inclusiveNamespacesPrefixList: inclusive,
  })
  const reference = `${element}/*[local-name(.)='Issuer']`
  signature.computeSignature(xml, {
    location: { reference, action: 'after' },
    ...(prefix && { prefix }),
  })
  return signature.getSignedXml()
}

export const createKeyDescriptor = (certificate: string, md: string, use = 'signing') =>
  `<${md}KeyDescriptor use="${use}"><ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:X509Data><ds:X509Certificate>${certificate.replace(/(.{76})/g, '$1\n')}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></${md}KeyDescriptor>`

export const typed = (a: string, name: string, value: string, type: string, more = '') =>
  `<${a}Attribute Name="${name}"${more}><${a}AttributeValue xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="${type}">${value}</${a}AttributeValue></${a}Attribute>`

export const untyped = (name: string, ...values: string[]) =>
  `<Attribute Name="${name}">${values.map((value) => `<AttributeValue>${value}</AttributeValue>`).join('')}</Attribute>`

export const service = (md: string, name: string, by: string, location: string) =>
  `<${md}${name} Binding="${binding}${by}" Location="${location}"/>`

export const emailNameId = (a: string) =>
  `<${a}NameID Format="${emailFormat}">Ann.Lee@corp.example</${a}NameID>`

/** The same with RSA-SHA384, which the library lacks, in the place of RSA-SHA256. */
export async function signedBySha384(xml: string, { privateKey }: Idp): Promise<string> {
  const changed = xml.replace('xmldsig-more#rsa-sha256', 'xmldsig-more#rsa-sha384')
  const document = await parseDomFromString(changed)
  const [info] = xpath.selectElements(document, "//*[local-name(.)='SignedInfo']")
  const text = new ExclusiveCanonicalization().process(info, {})
  const value = signBytes('sha384', Buffer.from(text), privateKey).toString('base64')
  return changed.replace(/(SignatureValue>)[^<]+/, `$1${value}`)
}
