/** The metadata of identity providers (SAML 2.0 Metadata). */
import { descriptorLimits } from './markup.ts'
import { isUsableCertificate } from './signature.ts'
import { parseSamlTime, SamlError } from './values.ts'
import { childrenNamed, elementText, isNamed, parseXml, type XmlElement } from './xml.ts'

export interface IdpMetadata {
  entityId: string
  /** The endpoint for the AuthnRequest. */
  signOn: Endpoint
  /** The single logout endpoints, one per binding. */
  logout: Endpoint[]
  /** Signing certificates, base64 of DER. */
  certificates: string[]
  /** When the document may no longer be used; undefined when it does not specify this. */
  expiresAt: Date | undefined
  /** After how many seconds to fetch it again. */
  cacheSeconds: number | undefined
}

type Binding = 'HTTP-Redirect' | 'HTTP-POST'

export interface Endpoint {
  binding: Binding
  url: string
  /** The endpoint for responses. */
  responseUrl: string
}

/** A signature is verified with each of them. */
const maxCertificates = 16

/** The supported bindings in order of preference. */
const bindings: readonly Binding[] = ['HTTP-Redirect', 'HTTP-POST']
const bindingPrefix = 'urn:oasis:names:tc:SAML:2.0:bindings:'

/** Throws SamlError. */
export async function readIdpMetadata(xml: string): Promise<IdpMetadata> {
  const { root } = await parseXml(Buffer.from(xml), descriptorLimits)
  const entity = findEntity(root)
  const entityId = entity.getAttribute('entityID')
  if (entityId === '' || entityId.length > 1024) throw new SamlError('it has no entityID')
  const descriptors = childrenNamed(entity, 'metadata', 'IDPSSODescriptor')
  const [descriptor] = descriptors
  if (!descriptor || descriptors.length > 1) {
    throw new SamlError('it must have exactly one IDPSSODescriptor')
  }
  const [signOn] = readEndpoints(descriptor, 'SingleSignOnService')
  if (!signOn) throw new SamlError(noSignOn(descriptor))
  const certificates = readCertificates(descriptor)
  if (certificates.length === 0) {
    throw new SamlError('it has no signing certificate with an RSA key of 2048 bits or more')
  }
  const logout = readEndpoints(descriptor, 'SingleLogoutService')
  return { entityId, signOn, logout, certificates, ...readLifetime(root, entity, descriptor) }
}

/** The only provider of the document, which may be wrapped in a list. */
function findEntity(root: XmlElement): XmlElement {
  if (isNamed(root, 'metadata', 'EntityDescriptor')) return root
  if (!isNamed(root, 'metadata', 'EntitiesDescriptor')) {
    throw new SamlError('it is not SAML 2.0 metadata')
  }
  const entities = childrenNamed(root, 'metadata', 'EntityDescriptor').filter(
    (entity) => childrenNamed(entity, 'metadata', 'IDPSSODescriptor').length > 0,
  )
  const [entity] = entities
  if (!entity || entities.length > 1) {
    throw new SamlError('it must have exactly one identity provider')
  }
  return entity
}

/** Endpoints of a service in our order of preference. */
function readEndpoints(descriptor: XmlElement, name: string): Endpoint[] {
  const services = childrenNamed(descriptor, 'metadata', name)
  return bindings.flatMap((binding) =>
    services
      .filter((service) => service.getAttribute('Binding') === `${bindingPrefix}${binding}`)
      .flatMap((service) => {
        const url = httpUrl(service.getAttribute('Location'))
        const responseUrl = httpUrl(service.getAttribute('ResponseLocation')) ?? url
        return url && responseUrl ? [{ binding, url, responseUrl }] : []
      }),
  )
}

function httpUrl(text: string): string | undefined {
  const url = URL.parse(text)
  return url && ['https:', 'http:'].includes(url.protocol) ? url.href : undefined
}

function noSignOn(descriptor: XmlElement): string {
  const reason = 'it has no SingleSignOnService with the binding HTTP-Redirect or HTTP-POST'
  const isArtifact = childrenNamed(descriptor, 'metadata', 'SingleSignOnService').some(
    (service) => service.getAttribute('Binding') === `${bindingPrefix}HTTP-Artifact`,
  )
  return isArtifact ? `${reason}; HTTP-Artifact is not supported` : reason
}

/** Certificates for signing or without a stated use. */
function readCertificates(descriptor: XmlElement): string[] {
  const texts = childrenNamed(descriptor, 'metadata', 'KeyDescriptor')
    .filter((key) => key.getAttribute('use') !== 'encryption')
    .flatMap((key) => childrenNamed(key, 'signature', 'KeyInfo'))
    .flatMap((info) => childrenNamed(info, 'signature', 'X509Data'))
    .flatMap((data) => childrenNamed(data, 'signature', 'X509Certificate'))
    .map((certificate) => elementText(certificate).replace(/\s+/g, ''))
  const unique = [...new Set(texts)]
  if (unique.length > maxCertificates) {
    throw new SamlError(`it has more than ${maxCertificates} signing certificates`)
  }
  return unique.filter(isUsableCertificate)
}

/** Throws SamlError for a time that cannot be read: a document with an unknown end must not be used for ever. */
function readLifetime(...elements: XmlElement[]) {
  const ends = elements
    .map((element) => element.getAttribute('validUntil'))
    .filter((text) => text !== '')
    .map((text) => parseSamlTime(text, 'validUntil'))
  const seconds = elements
    .map((element) => parseSeconds(element.getAttribute('cacheDuration')))
    .filter((duration) => duration !== undefined)
  return {
    expiresAt: ends.length > 0 ? new Date(Math.min(...ends)) : undefined,
    cacheSeconds: seconds.length > 0 ? Math.min(...seconds) : undefined,
  }
}

/** Parses an xs:duration without months and years, which no cache duration needs. */
function parseSeconds(text: string): number | undefined {
  const parts = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.\d+)?S)?)?$/.exec(text)
  if (!parts || text === 'P') return undefined
  const [days = 0, hours = 0, minutes = 0, seconds = 0] = parts
    .slice(1)
    .map((part) => Number(part ?? 0))
  return ((days * 24 + hours) * 60 + minutes) * 60 + seconds
}
