/** An identity provider that signs whatever a test requests, including invalid responses. */
import { generateKeyPairSync, type KeyObject } from 'node:crypto'

import { signXml } from '@node-saml/node-saml/lib/xml.js'
import xmlenc, { type EncryptOptions } from 'xml-encryption'

import { toPem } from '../../../providers/saml/signature.ts'
import { selfSignedCertificate } from '../../../providers/saml/sp-metadata.ts'

export interface Idp {
  entityId: string
  privateKey: KeyObject
  certificate: string
  metadata: string
}

const bindings = 'urn:oasis:names:tc:SAML:2.0:bindings:'

/** An endpoint in metadata: `<SingleLogoutService Binding="…HTTP-POST" Location="…"/>`. */
export const samlService = (name: string, binding: string, location: string, more = '') =>
  `<${name} Binding="${bindings}${binding}" Location="${location}"${more}/>`

const maxKeys = 5
const keys: KeyObject[] = []
let created = 0

/** One of a few keys, in turn: making an RSA key takes a tenth of a second. */
function nextKey(): KeyObject {
  const index = created++ % maxKeys
  const key = keys[index] ?? generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
  keys[index] = key
  return key
}

/** Its key differs from those of the four before it. */
export function createIdp(
  entityId = `https://${crypto.randomUUID()}.example/idp`,
  services?: (entityId: string) => string,
): Idp {
  const privateKey = nextKey()
  const certificate = createIdpCertificate(privateKey)
  const metadata = buildIdpMetadata(entityId, [certificate], { services: services?.(entityId) })
  return { entityId, privateKey, certificate, metadata }
}

export function createIdpCertificate(privateKey: KeyObject): string {
  const made = selfSignedCertificate({ privateKey, host: 'idp.example', encrypts: false })
  return made.toString('base64')
}

interface MetadataOptions {
  /** Further attributes of the root. */
  attributes?: string
  services?: string | undefined
}

export function buildIdpMetadata(
  entityId: string,
  certificates: string[],
  { attributes = '', services }: MetadataOptions = {},
): string {
  const keys = certificates.map(
    (certificate) =>
      `<KeyDescriptor use="signing"><ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:X509Data><ds:X509Certificate>${certificate}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></KeyDescriptor>`,
  )
  const signOn = samlService('SingleSignOnService', 'HTTP-Redirect', `${entityId}/sso?tenant=1`)
  return `<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${entityId}"${attributes}><IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">${keys.join('')}${services ?? signOn}</IDPSSODescriptor></EntityDescriptor>`
}

export interface ResponseOptions {
  idp: Idp
  /** `AUTH_API_EXTERNAL_URL` of the server. */
  base?: string
  requestId?: string | undefined
  nameId?: string
  nameIdFormat?: string
  /** Name to values. */
  attributes?: Record<string, string[]>
  issuer?: string
  audience?: string | undefined
  recipient?: string
  destination?: string | undefined
  inResponseTo?: string | undefined
  issuedAt?: Date
  notBefore?: Date
  notOnOrAfter?: Date
  sessionEnd?: Date | undefined
  sessionIndex?: string
  assertionId?: string
  responseId?: string
}

const id = () => `_${crypto.randomUUID()}`
const seconds = (count: number) => new Date(Date.now() + count * 1000)

export function buildAssertion(options: ResponseOptions): string {
  const {
    idp,
    base = 'http://auth.example',
    requestId,
    attributes = { mail: ['ann@corp.example'] },
  } = options
  const { nameId = 'ann', issuer = idp.entityId, sessionEnd, assertionId = id() } = options
  const { sessionIndex = 's1' } = options
  const format = options.nameIdFormat ?? 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent'
  const issued = (options.issuedAt ?? new Date()).toISOString()
  const start = (options.notBefore ?? seconds(-60)).toISOString()
  const end = (options.notOnOrAfter ?? seconds(300)).toISOString()
  const audience = 'audience' in options ? options.audience : `${base}/sso/saml/metadata`
  const recipient = options.recipient ?? `${base}/sso/saml/acs`
  const answers = 'inResponseTo' in options ? options.inResponseTo : requestId
  const inResponseTo = answers === undefined ? '' : ` InResponseTo="${answers}"`
  const restriction = audience
    ? `<saml:AudienceRestriction><saml:Audience>${audience}</saml:Audience></saml:AudienceRestriction>`
    : ''
  const statements = Object.entries(attributes).map(
    ([name, values]) =>
      `<saml:Attribute Name="${name}">${values.map((value) => `<saml:AttributeValue>${value}</saml:AttributeValue>`).join('')}</saml:Attribute>`,
  )
  const ends = sessionEnd ? ` SessionNotOnOrAfter="${sessionEnd.toISOString()}"` : ''
  return `<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="${assertionId}" Version="2.0" IssueInstant="${issued}"><saml:Issuer>${issuer}</saml:Issuer><saml:Subject><saml:NameID Format="${format}">${nameId}</saml:NameID><saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer"><saml:SubjectConfirmationData NotOnOrAfter="${end}" Recipient="${recipient}"${inResponseTo}/></saml:SubjectConfirmation></saml:Subject><saml:Conditions NotBefore="${start}" NotOnOrAfter="${end}">${restriction}</saml:Conditions><saml:AuthnStatement AuthnInstant="${issued}" SessionIndex="${sessionIndex}"${ends}><saml:AuthnContext><saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:Password</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement><saml:AttributeStatement>${statements.join('')}</saml:AttributeStatement></saml:Assertion>`
}

export function buildSamlResponse(options: ResponseOptions, ...content: string[]): string {
  const { idp, base = 'http://auth.example', requestId, responseId = id() } = options
  const answers = 'inResponseTo' in options ? options.inResponseTo : requestId
  const inResponseTo = answers === undefined ? '' : ` InResponseTo="${answers}"`
  const address = 'destination' in options ? options.destination : `${base}/sso/saml/acs`
  const destination = address === undefined ? '' : ` Destination="${address}"`
  const issued = (options.issuedAt ?? new Date()).toISOString()
  return `<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" ID="${responseId}" Version="2.0" IssueInstant="${issued}"${destination}${inResponseTo}><saml:Issuer xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion">${options.issuer ?? idp.entityId}</saml:Issuer><samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Success"/></samlp:Status>${content.join('')}</samlp:Response>`
}

type Algorithm = 'sha1' | 'sha256' | 'sha512'

/** A signature in the element of this name, behind its issuer. */
export function signed(
  xml: string,
  name: 'Assertion' | 'Response' | 'LogoutRequest' | 'LogoutResponse',
  { privateKey, certificate }: Pick<Idp, 'privateKey' | 'certificate'>,
  algorithm: Algorithm = 'sha256',
): string {
  const element = `//*[local-name(.)='${name}']`
  return signXml(
    xml,
    element,
    { reference: `${element}/*[local-name(.)='Issuer']`, action: 'after' },
    {
      privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }),
      publicCert: toPem(certificate),
      signatureAlgorithm: algorithm,
      digestAlgorithm: algorithm,
    },
  )
}

/** Signed assertion in an unsigned response, as most providers send. `change` is applied before it is signed. */
export function signedResponse(options: ResponseOptions, change = (xml: string) => xml): string {
  const assertion = signed(change(buildAssertion(options)), 'Assertion', options.idp)
  return buildSamlResponse(options, assertion)
}

export interface Encryption {
  certificate: string
  encryptionAlgorithm?: EncryptOptions['encryptionAlgorithm']
  keyEncryptionAlgorithm?: EncryptOptions['keyEncryptionAlgorithm']
}

export async function encrypted(
  assertion: string,
  { certificate, ...more }: Encryption,
): Promise<string> {
  const pem = toPem(certificate)
  const options: EncryptOptions = {
    rsa_pub: pem,
    pem,
    encryptionAlgorithm: 'http://www.w3.org/2009/xmlenc11#aes256-gcm',
    keyEncryptionAlgorithm: 'http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p',
    // Some providers use AES-CBC.
    disallowEncryptionWithInsecureAlgorithm: false,
    warnInsecureAlgorithm: false,
    ...more,
  }
  return new Promise((resolve, reject) => {
    xmlenc.encrypt(assertion, options, (error, result) => {
      if (error) reject(error)
      else {
        resolve(
          `<saml:EncryptedAssertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion">${result}</saml:EncryptedAssertion>`,
        )
      }
    })
  })
}
