/** Metadata and responses of identity providers of large vendors, in their documented forms. */
import { createIdp, type Idp } from './idp.ts'
import { moreVendors } from './more-vendors.ts'
import {
  assertionNamespace,
  binding,
  createKeyDescriptor,
  createResponse,
  emailFormat,
  emailNameId,
  microsoft,
  protocol,
  service,
  sign,
  typed,
  untyped,
  type Vendor,
  xmlsoap,
} from './vendor-shapes.ts'

const okta: Vendor = {
  entityId: 'http://www.okta.com/exk1fxp5uGgJzVh7x0h8',
  metadata(certificate) {
    const url = 'https://corp.okta.com/app/corp_app_1/exk1fxp5uGgJzVh7x0h8/sso/saml'
    return `<?xml version="1.0" encoding="UTF-8"?><md:EntityDescriptor entityID="${okta.entityId}" xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata"><md:IDPSSODescriptor WantAuthnRequestsSigned="false" protocolSupportEnumeration="${protocol}">${createKeyDescriptor(certificate, 'md:')}<md:NameIDFormat>urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified</md:NameIDFormat><md:NameIDFormat>${emailFormat}</md:NameIDFormat>${service('md:', 'SingleSignOnService', 'HTTP-POST', url)}${service('md:', 'SingleSignOnService', 'HTTP-Redirect', url)}</md:IDPSSODescriptor></md:EntityDescriptor>`
  },
  response(idp, requestId, signature) {
    const format = ' NameFormat="urn:oasis:names:tc:SAML:2.0:attrname-format:unspecified"'
    const attributes = [
      typed('saml2:', 'email', 'Ann.Lee@corp.example', 'xs:string', format),
      typed('saml2:', 'firstName', 'Ann', 'xs:string', format),
      typed('saml2:', 'lastName', 'Lee', 'xs:string', format),
    ].join('')
    const shape = {
      prefix: 'saml2:',
      protocolPrefix: 'saml2p:',
      nameId: emailNameId('saml2:'),
      attributes,
    }
    const style = { prefix: 'ds', inclusive: ['xs'], ...signature }
    const inner = sign(createResponse(idp, requestId, shape), 'Assertion', idp, style)
    return sign(inner, 'Response', idp, style)
  },
}

const tenant = '6c1b2f3a-1111-4222-8333-944455556666'

const entra: Vendor = {
  entityId: `https://sts.windows.net/${tenant}/`,
  metadata(certificate) {
    const url = `https://login.microsoftonline.com/${tenant}/saml2`
    const role = `<RoleDescriptor xsi:type="fed:SecurityTokenServiceType" protocolSupportEnumeration="http://docs.oasis-open.org/wsfed/federation/200706" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:fed="http://docs.oasis-open.org/wsfed/federation/200706">${createKeyDescriptor(certificate, '')}<fed:ClaimTypesOffered><auth:ClaimType Uri="${xmlsoap}/name" xmlns:auth="http://docs.oasis-open.org/wsfed/authorization/200706"><auth:DisplayName>Name</auth:DisplayName></auth:ClaimType></fed:ClaimTypesOffered></RoleDescriptor>`
    return `﻿<?xml version="1.0" encoding="utf-8"?><EntityDescriptor ID="_9bd9b9b5-0c0e-4c4b-9d3e-3f2c1a0b9d11" entityID="${entra.entityId}" xmlns="urn:oasis:names:tc:SAML:2.0:metadata">${role}<IDPSSODescriptor protocolSupportEnumeration="${protocol}">${createKeyDescriptor(certificate, '')}${service('', 'SingleLogoutService', 'HTTP-Redirect', url)}${service('', 'SingleSignOnService', 'HTTP-Redirect', url)}${service('', 'SingleSignOnService', 'HTTP-POST', url)}</IDPSSODescriptor></EntityDescriptor>`
  },
  response(idp, requestId, signature) {
    const attributes = [
      untyped(`${microsoft}/tenantid`, tenant),
      untyped(`${microsoft}/objectidentifier`, 'd2f0a7b1-0000-4000-8000-000000000001'),
      untyped(`${microsoft}/displayname`, 'Ann Lee'),
      untyped('http://schemas.microsoft.com/ws/2008/06/identity/claims/groups', 'g-1', 'g-2'),
      untyped(`${xmlsoap}/givenname`, 'Ann'),
      untyped(`${xmlsoap}/surname`, 'Lee'),
      untyped(`${xmlsoap}/emailaddress`, 'Ann.Lee@corp.example'),
      untyped(`${xmlsoap}/name`, 'ann.lee@corp.onmicrosoft.example'),
    ].join('')
    const nameId = emailNameId('')
    const shape = { prefix: '', protocolPrefix: 'samlp:', nameId, attributes }
    return sign(createResponse(idp, requestId, shape), 'Assertion', idp, signature)
  },
}

const google: Vendor = {
  entityId: 'https://accounts.google.com/o/saml2?idpid=C01abc2de',
  metadata(certificate) {
    const url = 'https://accounts.google.com/o/saml2/idp?idpid=C01abc2de'
    return `<?xml version="1.0" encoding="UTF-8" standalone="no"?>\n<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${google.entityId}" validUntil="2036-11-01T09:00:00.000Z">\n  <md:IDPSSODescriptor WantAuthnRequestsSigned="false" protocolSupportEnumeration="${protocol}">\n    ${createKeyDescriptor(certificate, 'md:')}\n    <md:NameIDFormat>${emailFormat}</md:NameIDFormat>\n    ${service('md:', 'SingleSignOnService', 'HTTP-Redirect', url)}\n    ${service('md:', 'SingleSignOnService', 'HTTP-POST', url)}\n  </md:IDPSSODescriptor>\n</md:EntityDescriptor>`
  },
  response(idp, requestId, signature) {
    const attributes = ['email', 'firstName', 'lastName'].map((name, index) =>
      typed('saml2:', name, ['Ann.Lee@corp.example', 'Ann', 'Lee'][index] ?? '', 'xs:anyType'),
    )
    const shape = {
      prefix: 'saml2:',
      protocolPrefix: 'saml2p:',
      nameId: emailNameId('saml2:'),
      attributes: attributes.join(''),
    }
    return sign(createResponse(idp, requestId, shape), 'Response', idp, {
      prefix: 'ds',
      ...signature,
    })
  },
}

const keycloak: Vendor = {
  entityId: 'https://keycloak.corp.example/realms/staff',
  metadata(certificate) {
    const url = `${keycloak.entityId}/protocol/saml`
    const all = (name: string, bindings: string[]) =>
      bindings.map((each) => service('md:', name, each, url)).join('')
    const key = createKeyDescriptor(certificate, 'md:').replace(
      '<ds:X509Data>',
      '<ds:KeyName>k1</ds:KeyName><ds:X509Data>',
    )
    return `<md:EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" xmlns:saml="${assertionNamespace}" entityID="${keycloak.entityId}"><md:IDPSSODescriptor WantAuthnRequestsSigned="true" protocolSupportEnumeration="${protocol}">${key}<md:ArtifactResolutionService Binding="${binding}SOAP" Location="${url}/resolve" index="0"/>${all('SingleLogoutService', ['HTTP-POST', 'HTTP-Redirect', 'HTTP-Artifact', 'SOAP'])}<md:NameIDFormat>urn:oasis:names:tc:SAML:2.0:nameid-format:persistent</md:NameIDFormat>${all('SingleSignOnService', ['HTTP-POST', 'HTTP-Redirect', 'SOAP', 'HTTP-Artifact'])}</md:IDPSSODescriptor></md:EntityDescriptor>`
  },
  response(idp, requestId, signature) {
    const uri = ' NameFormat="urn:oasis:names:tc:SAML:2.0:attrname-format:uri"'
    const attributes = [
      typed(
        'saml:',
        'urn:oid:1.2.840.113549.1.9.1',
        'Ann.Lee@corp.example',
        'xs:string',
        ` FriendlyName="email"${uri}`,
      ),
      typed('saml:', 'urn:oid:2.5.4.42', 'Ann', 'xs:string', ` FriendlyName="givenName"${uri}`),
      typed('saml:', 'urn:oid:2.5.4.4', 'Lee', 'xs:string', ` FriendlyName="surname"${uri}`),
      typed('saml:', 'Role', 'staff', 'xs:string'),
      typed('saml:', 'Role', 'offline_access', 'xs:string'),
    ].join('')
    const nameId =
      '<saml:NameID Format="urn:oasis:names:tc:SAML:2.0:nameid-format:persistent">G-5f0c</saml:NameID>'
    const shape = { prefix: 'saml:', protocolPrefix: 'samlp:', nameId, attributes }
    const style = { prefix: 'dsig', ...signature }
    return sign(
      sign(createResponse(idp, requestId, shape), 'Assertion', idp, style),
      'Response',
      idp,
      style,
    )
  },
}

const adfs: Vendor = {
  entityId: 'http://adfs.corp.example/adfs/services/trust',
  metadata(certificate) {
    const url = 'https://adfs.corp.example/adfs/ls/'
    const keys =
      createKeyDescriptor(certificate, '', 'encryption') + createKeyDescriptor(certificate, '')
    const both = (name: string) =>
      service('', name, 'HTTP-Redirect', url) + service('', name, 'HTTP-POST', url)
    const asServiceProvider = `<SPSSODescriptor WantAssertionsSigned="true" protocolSupportEnumeration="${protocol}">${keys}${both('SingleLogoutService')}<NameIDFormat>${emailFormat}</NameIDFormat><AssertionConsumerService Binding="${binding}HTTP-POST" Location="${url}" index="0" isDefault="true"/></SPSSODescriptor>`
    const offered = `<Attribute Name="${xmlsoap}/emailaddress" NameFormat="urn:oasis:names:tc:SAML:2.0:attrname-format:uri" FriendlyName="E-Mail Address" xmlns="${assertionNamespace}"/>`
    return `<EntityDescriptor ID="_0f1e2d3c-5b6a-4798-8765-43210fedcba9" entityID="${adfs.entityId}" xmlns="urn:oasis:names:tc:SAML:2.0:metadata">${asServiceProvider}<IDPSSODescriptor protocolSupportEnumeration="${protocol}">${keys}<ArtifactResolutionService Binding="${binding}SOAP" Location="https://adfs.corp.example/adfs/services/trust/artifactresolution" index="0"/>${both('SingleLogoutService')}<NameIDFormat>${emailFormat}</NameIDFormat>${both('SingleSignOnService')}${offered}</IDPSSODescriptor></EntityDescriptor>`
  },
  response(idp, requestId, signature) {
    const attributes = [
      untyped(`${xmlsoap}/emailaddress`, 'Ann.Lee@corp.example'),
      untyped(`${xmlsoap}/name`, 'Ann Lee'),
      untyped('http://schemas.xmlsoap.org/claims/Group', 'Domain Users', 'Staff'),
    ].join('')
    const more = ' Consent="urn:oasis:names:tc:SAML:2.0:consent:unspecified"'
    const nameId = emailNameId('')
    const shape = { prefix: '', protocolPrefix: 'samlp:', nameId, attributes, more }
    return sign(createResponse(idp, requestId, shape), 'Assertion', idp, {
      prefix: 'ds',
      ...signature,
    })
  },
}

/** By the heading of docs/sso.md. */
export const vendors: Record<string, Vendor> = {
  Okta: okta,
  'Entra ID': entra,
  'Google Workspace': google,
  Keycloak: keycloak,
  ADFS: adfs,
  ...moreVendors,
}

/** With a key of this test. */
export function createVendorIdp({ entityId, metadata }: Vendor): Idp {
  const made = createIdp(entityId)
  return { ...made, metadata: metadata(made.certificate) }
}
