/** The messages that this server sends to identity providers (SAML 2.0 Core §3.2, §3.4, §3.7). */
import { successStatus } from './status.ts'
import { escapeXml, namespaces } from './xml.ts'

interface MessageHead {
  id: string
  /** This server's entity id. */
  issuer: string
  /** The URL that it is sent to. */
  destination: string
  issuedAt: Date
}

interface AuthnRequest extends MessageHead {
  acsUrl: string
  nameIdFormat: string
}

/** The provider's identifier of a user, with the qualifiers of the assertion. */
export interface NameId {
  value: string
  format: string | null
  nameQualifier: string | null
  spNameQualifier: string | null
}

interface LogoutRequest extends MessageHead {
  nameId: NameId
  sessionIndex: string | null
}

interface LogoutResponse extends MessageHead {
  /** The id of the request. */
  inResponseTo: string
}

const post = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST'
const entityFormat = 'urn:oasis:names:tc:SAML:2.0:nameid-format:entity'

export function authnRequest(request: AuthnRequest): string {
  const attributes = { ProtocolBinding: post, AssertionConsumerServiceURL: request.acsUrl }
  const policy = { Format: request.nameIdFormat, AllowCreate: 'true' }
  return message('AuthnRequest', request, attributes, element('samlp:NameIDPolicy', policy))
}

export function logoutRequest(request: LogoutRequest): string {
  const { value, format, nameQualifier, spNameQualifier } = request.nameId
  const names = { NameQualifier: nameQualifier, SPNameQualifier: spNameQualifier, Format: format }
  const { sessionIndex } = request
  const nameId = element('saml:NameID', names, escapeXml(value))
  const index =
    sessionIndex === null ? '' : element('samlp:SessionIndex', {}, escapeXml(sessionIndex))
  return message('LogoutRequest', request, {}, nameId + index)
}

export function logoutResponse(response: LogoutResponse): string {
  const code = element('samlp:StatusCode', { Value: successStatus })
  const attributes = { InResponseTo: response.inResponseTo }
  return message('LogoutResponse', response, attributes, element('samlp:Status', {}, code))
}

function message(
  name: string,
  { id, issuer, destination, issuedAt }: MessageHead,
  more: Record<string, string>,
  content: string,
): string {
  const attributes = {
    'xmlns:samlp': namespaces.protocol,
    'xmlns:saml': namespaces.assertion,
    ID: id,
    Version: '2.0',
    IssueInstant: issuedAt.toISOString(),
    Destination: destination,
    ...more,
  }
  const from = element('saml:Issuer', { Format: entityFormat }, escapeXml(issuer))
  return element(`samlp:${name}`, attributes, from + content)
}

/** Null attributes are omitted. */
function element(name: string, attributes: Record<string, string | null>, content = ''): string {
  const written = Object.entries(attributes).map(([key, value]) =>
    value === null ? '' : ` ${key}="${escapeXml(value)}"`,
  )
  return `<${name}${written.join('')}>${content}</${name}>`
}
