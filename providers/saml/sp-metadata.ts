/** This server's metadata for identity providers (SAML 2.0 Metadata). */
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
