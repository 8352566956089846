/** Identity providers that are configured by hand more often. Values are those of their documentation and defaults. */
import { encrypted, type Idp } from './idp.ts'
import {
  createKeyDescriptor,
  createResponse,
  emailFormat,
  emailNameId,
  protocol,
  type SignatureShape,
  service,
  sign,
  typed,
  type Vendor,
} from './vendor-shapes.ts'

const metadataNamespace = 'urn:oasis:names:tc:SAML:2.0:metadata'
const unspecified = 'urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified'
const persistent = 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent'
const transient = 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient'
const basic = ' NameFormat="urn:oasis:names:tc:SAML:2.0:attrname-format:basic"'
const uri = ' NameFormat="urn:oasis:names:tc:SAML:2.0:attrname-format:uri"'

const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()
const withoutFraction = (iso: string) => iso.replace(/\.\d+Z$/, 'Z')

/** Line ends of Windows in the first signature, as Java writes base64. */
const wrapped = (xml: string) =>
  xml.replace(
    /(SignatureValue)>([^<]+)</,
    (_, name: string, value: string) =>
      `${name}>${value.replace(/\s/g, '').replace(/(.{76})/g, '$1&#13;\n')}<`,
  )

interface EntityParts {
  entityId: string
  keys: string
  services: string
  more?: string
}

const entity = ({ entityId, keys, services, more = '' }: EntityParts) =>
  `<?xml version="1.0"?>\n<md:EntityDescriptor xmlns:md="${metadataNamespace}" entityID="${entityId}"${more}>\n  <md:IDPSSODescriptor protocolSupportEnumeration="${protocol}" WantAuthnRequestsSigned="false">\n    ${keys}\n    ${services}\n  </md:IDPSSODescriptor>\n</md:EntityDescriptor>\n`

const oneLogin: Vendor = {
  entityId: 'https://app.onelogin.com/saml/metadata/0a1b2c3d-4e5f-6789-abcd-ef0123456789',
  metadata(certificate) {
    const url = 'https://corp.onelogin.com/trust/saml2/'
    const services = [
      service('md:', 'SingleLogoutService', 'HTTP-Redirect', `${url}http-redirect/slo/1`),
      `<md:NameIDFormat>${emailFormat}</md:NameIDFormat>`,
      service('md:', 'SingleSignOnService', 'HTTP-Redirect', `${url}http-post/sso/1`),
      service('md:', 'SingleSignOnService', 'HTTP-POST', `${url}http-post/sso/1`),
      service('md:', 'SingleSignOnService', 'SOAP', `${url}soap/sso/1`),
    ].join('\n    ')
    const keys = createKeyDescriptor(certificate, 'md:')
    return entity({ entityId: oneLogin.entityId, keys, services })
  },
  response(idp, requestId, signature) {
    const attributes = [
      typed('saml:', 'User.email', 'Ann.Lee@corp.example', 'xs:string', basic),
      typed('saml:', 'User.FirstName', 'Ann', 'xs:string', basic),
      typed('saml:', 'User.LastName', 'Lee', 'xs:string', basic),
      typed('saml:', 'memberOf', '', 'xs:string', basic),
    ].join('')
    const shape = {
      prefix: 'saml:',
      protocolPrefix: 'samlp:',
      nameId: emailNameId('saml:'),
      attributes,
      authenticated: ` SessionNotOnOrAfter="${withoutFraction(inHours(24))}"`,
      time: withoutFraction,
    }
    return sign(createResponse(idp, requestId, shape), 'Response', idp, {
      prefix: 'ds',
      ...signature,
    })
  },
}

const environment = '0a1b2c3d-4e5f-6789-abcd-ef0123456789'

const ping: Vendor = {
  entityId: `https://auth.pingone.eu/${environment}`,
  metadata(certificate) {
    const url = `https://auth.pingone.eu/${environment}/saml20/idp`
    const services = ['SingleLogoutService', 'SingleSignOnService']
      .flatMap((name) =>
        ['HTTP-POST', 'HTTP-Redirect'].map((by) =>
          service('md:', name, by, `${url}/${name === 'SingleSignOnService' ? 'sso' : 'slo'}`),
        ),
      )
      .join('')
    return entity({
      entityId: ping.entityId,
      keys: createKeyDescriptor(certificate, 'md:'),
      services,
    })
  },
  response(idp, requestId, signature) {
    const attributes = [
      typed('saml:', 'email', 'Ann.Lee@corp.example', 'xs:string', basic),
      typed('saml:', 'given_name', 'Ann', 'xs:string', basic),
      typed('saml:', 'family_name', 'Lee', 'xs:string', basic),
    ].join('')
    const nameId = `<saml:NameID Format="${unspecified}">7f1f2b0e-0000-4000-8000-000000000001</saml:NameID>`
    const shape = { prefix: 'saml:', protocolPrefix: 'samlp:', nameId, attributes }
    return sign(createResponse(idp, requestId, shape), 'Assertion', idp, {
      prefix: 'ds',
      ...signature,
    })
  },
}

const jumpCloud: Vendor = {
  // Entered by the administrator.
  entityId: 'JumpCloud',
  metadata(certificate) {
    const url = 'https://sso.jumpcloud.com/saml2/corp'
    const services = ['HTTP-Redirect', 'HTTP-POST']
      .map((by) => service('md:', 'SingleSignOnService', by, url))
      .join('')
    return entity({
      entityId: jumpCloud.entityId,
      keys: createKeyDescriptor(certificate, 'md:'),
      services: `<md:NameIDFormat>${unspecified}</md:NameIDFormat>${services}`,
    })
  },
  response(idp, requestId, signature) {
    const attributes = [
      typed('saml2:', 'email', 'Ann.Lee@corp.example', 'xs:string', basic),
      typed('saml2:', 'firstname', 'Ann', 'xs:string', basic),
      typed('saml2:', 'lastname', 'Lee', 'xs:string', basic),
    ].join('')
    const nameId =
      '<saml2:NameID Format="urn:oasis:names:tc:SAML:1.0:nameid-format:unspecified">Ann.Lee@corp.example</saml2:NameID>'
    const shape = {
      prefix: 'saml2:',
      protocolPrefix: 'saml2p:',
      nameId,
      attributes,
      issuerFormat: 'urn:oasis:names:tc:SAML:2.0:nameid-format:entity',
    }
    const style = { prefix: 'ds', inclusive: ['xs'], ...signature }
    return sign(createResponse(idp, requestId, shape), 'Response', idp, style)
  },
}

/** The assertion in a response that is not signed yet. */
function shibbolethResponse(idp: Idp, requestId: string, nameId: string): string {
  const attributes = [
    ['mail', 'urn:oid:0.9.2342.19200300.100.1.3', 'Ann.Lee@corp.example'],
    ['givenName', 'urn:oid:2.5.4.42', 'Ann'],
    ['sn', 'urn:oid:2.5.4.4', 'Lee'],
    ['affiliation', 'urn:oid:1.3.6.1.4.1.5923.1.1.1.9', 'staff@corp.example'],
  ].map(([friendly, name = '', value = '']) =>
    typed('saml2:', name, value, 'xsd:string', ` FriendlyName="${friendly}"${uri}`).replace(
      'xmlns:xs=',
      'xmlns:xsd=',
    ),
  )
  return createResponse(idp, requestId, {
    prefix: 'saml2:',
    protocolPrefix: 'saml2p:',
    nameId,
    attributes: attributes.join(''),
    confirmed: ' Address="192.0.2.1"',
    locality: '<saml2:SubjectLocality Address="192.0.2.1"/>',
  })
}

const shibbolethNameId = (format: string, value: string) =>
  `<saml2:NameID Format="${format}" NameQualifier="https://idp.corp.example/idp/shibboleth" SPNameQualifier="http://auth.example/sso/saml/metadata">${value}</saml2:NameID>`

const shibboleth: Vendor & {
  /** With the NameID that it sends unless another one is configured. */
  byDefault(idp: Idp, requestId: string): string
} = {
  entityId: 'https://idp.corp.example/idp/shibboleth',
  metadata(certificate) {
    const url = 'https://idp.corp.example/idp/profile/'
    const scope =
      '<md:Extensions><shibmd:Scope xmlns:shibmd="urn:mace:shibboleth:metadata:1.0" regexp="false">corp.example</shibmd:Scope></md:Extensions>'
    const keys = [
      '<!-- First signing certificate is BackChannel, the Second is FrontChannel -->',
      createKeyDescriptor(certificate, 'md:'),
      createKeyDescriptor(certificate, 'md:', 'encryption'),
    ].join('\n')
    const services = [
      `<md:ArtifactResolutionService Binding="urn:oasis:names:tc:SAML:2.0:bindings:SOAP" Location="${url}SAML2/SOAP/ArtifactResolution" index="2"/>`,
      service('md:', 'SingleLogoutService', 'HTTP-Redirect', `${url}SAML2/Redirect/SLO`),
      service('md:', 'SingleLogoutService', 'HTTP-POST', `${url}SAML2/POST/SLO`),
      `<md:SingleSignOnService Binding="urn:mace:shibboleth:1.0:profiles:AuthnRequest" Location="${url}Shibboleth/SSO"/>`,
      service('md:', 'SingleSignOnService', 'HTTP-POST', `${url}SAML2/POST/SSO`),
      service('md:', 'SingleSignOnService', 'HTTP-Redirect', `${url}SAML2/Redirect/SSO`),
    ].join('\n')
    return entity({ entityId: shibboleth.entityId, keys: scope + keys, services })
  },
  response(idp, requestId, signature) {
    const nameId = shibbolethNameId(persistent, 'R3ZLQVYHN2XWTWLJRM4GO5IDQ3GL4YJ3')
    const style: SignatureShape = { prefix: 'ds', inclusive: ['xsd'], ...signature }
    const xml = shibbolethResponse(idp, requestId, nameId)
    return wrapped(sign(wrapped(sign(xml, 'Assertion', idp, style)), 'Response', idp, style))
  },
  byDefault(idp, requestId) {
    const nameId = shibbolethNameId(transient, `AAdzZWNyZXQx${crypto.randomUUID()}`)
    return sign(shibbolethResponse(idp, requestId, nameId), 'Response', idp, { prefix: 'ds' })
  },
  async encrypted(idp, requestId, certificate) {
    const nameId = shibbolethNameId(persistent, 'R3ZLQVYHN2XWTWLJRM4GO5IDQ3GL4YJ3')
    const style = { prefix: 'ds', inclusive: ['xsd'] }
    const xml = sign(shibbolethResponse(idp, requestId, nameId), 'Assertion', idp, style)
    const [assertion = ''] = /<saml2:Assertion[\s\S]*<\/saml2:Assertion>/.exec(xml) ?? []
    const encryptionAlgorithm = 'http://www.w3.org/2009/xmlenc11#aes128-gcm'
    const hidden = await encrypted(assertion, { certificate, encryptionAlgorithm })
    return sign(xml.replace(assertion, hidden), 'Response', idp, style)
  },
}

const simpleSamlPhp: typeof shibboleth = {
  entityId: 'https://idp.corp.example/simplesaml/saml2/idp/metadata.php',
  metadata(certificate) {
    const url = 'https://idp.corp.example/simplesaml/saml2/idp/'
    const services = [
      service('md:', 'SingleLogoutService', 'HTTP-Redirect', `${url}SingleLogoutService.php`),
      `<md:NameIDFormat>${transient}</md:NameIDFormat>`,
      service('md:', 'SingleSignOnService', 'HTTP-Redirect', `${url}SSOService.php`),
    ].join('')
    const keys = createKeyDescriptor(certificate, 'md:')
    return entity({ entityId: simpleSamlPhp.entityId, keys, services })
  },
  response(idp, requestId, signature) {
    return simpleSamlPhpResponse(idp, requestId, `Format="${persistent}">5c1f9a`, signature)
  },
  byDefault(idp, requestId) {
    const value = `Format="${transient}">_${crypto.randomUUID()}`
    return simpleSamlPhpResponse(idp, requestId, value)
  },
}

function simpleSamlPhpResponse(
  idp: Idp,
  requestId: string,
  value: string,
  signature: SignatureShape = {},
): string {
  const attributes = [
    ['mail', 'Ann.Lee@corp.example'],
    ['givenName', 'Ann'],
    ['sn', 'Lee'],
  ].map(([name = '', text = '']) => typed('saml:', name, text, 'xs:string', basic))
  const nameId = `<saml:NameID SPNameQualifier="http://auth.example/sso/saml/metadata" ${value}</saml:NameID>`
  const shape = {
    prefix: 'saml:',
    protocolPrefix: 'samlp:',
    nameId,
    attributes: attributes.join(''),
    authenticated: ` SessionNotOnOrAfter="${withoutFraction(inHours(8))}"`,
    time: withoutFraction,
  }
  const style = { prefix: 'ds', ...signature }
  return sign(
    sign(createResponse(idp, requestId, shape), 'Assertion', idp, style),
    'Response',
    idp,
    style,
  )
}

/** By the heading of docs/sso.md. */
export const moreVendors: Record<string, Vendor> = {
  OneLogin: oneLogin,
  Ping: ping,
  JumpCloud: jumpCloud,
  Shibboleth: shibboleth,
  SimpleSAMLphp: simpleSamlPhp,
}

export const byDefault = {
  Shibboleth: shibboleth.byDefault,
  SimpleSAMLphp: simpleSamlPhp.byDefault,
}
