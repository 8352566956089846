/** Identity providers as they are, with the settings and the mapping that docs/sso.md has for each. */
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { suite, test } from 'node:test'

import { decodeJwt } from 'jose'

import { selfSignedCertificate } from '../../../providers/saml/sp-metadata.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { type Idp, signed } from '../../support/saml/idp.ts'
import { byDefault } from '../../support/saml/more-vendors.ts'
import { addIdp, ask, begin, post, samlOn } from '../../support/saml/server.ts'
import { signedBySha384, type Vendor } from '../../support/saml/vendor-shapes.ts'
import { createVendorIdp, vendors } from '../../support/saml/vendors.ts'
import type { App } from '../../support/server.ts'

const page = readFileSync(new URL('../../../docs/sso.md', import.meta.url), 'utf8')

/** What the section of the vendor says about the provider here. */
function documented(vendor: string): { attribute_mapping: object; name_id_format?: string } {
  const section = page.split(/^### /m).find((part) => part.startsWith(`${vendor}\n`)) ?? ''
  const attribute_mapping = JSON.parse(/```json\n([\s\S]*?)```/.exec(section)?.[1] ?? '')
  const format = /`name_id_format`: `([^`]+)`/.exec(section)?.[1]
  return { attribute_mapping, ...(format && { name_id_format: format }) }
}

/** The mapped attributes. */
const names = { given_name: 'Ann', family_name: 'Lee' }
const expected: Record<string, object> = {
  Okta: names,
  'Entra ID': { full_name: 'Ann Lee', custom_claims: { groups: ['g-1', 'g-2'] } },
  'Google Workspace': names,
  Keycloak: { ...names, custom_claims: { roles: ['staff', 'offline_access'] } },
  ADFS: { full_name: 'Ann Lee', custom_claims: { groups: ['Domain Users', 'Staff'] } },
  OneLogin: names,
  Ping: names,
  JumpCloud: names,
  Shibboleth: { ...names, custom_claims: { affiliations: ['staff@corp.example'] } },
  SimpleSAMLphp: names,
}

const dsig = 'http://www.w3.org/2000/09/xmldsig#'
const dsigMore = 'http://www.w3.org/2001/04/xmldsig-more#'
const sha1 = { method: `${dsig}rsa-sha1`, digest: `${dsig}sha1` }
const inclusive = 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315'
const withoutMail = (xml: string) =>
  xml.replace(/<(saml2:)?Attribute Name="email"[\s\S]*?Attribute>/, '')

type Respond = (idp: Idp, requestId: string, vendor: Vendor) => string | Promise<string>

/** Signs again what was changed. */
const changed =
  (change: (xml: string) => string): Respond =>
  (idp, requestId, vendor) => {
    const xml = change(vendor.response(idp, requestId))
    return signed(xml.replace(/<(\w+:)?Signature [\s\S]*?<\/\1Signature>/g, ''), 'Response', idp)
  }

const status = (code: string) =>
  changed((xml) =>
    xml
      .replace(/<(\w+:)?(Encrypted)?Assertion [\s\S]*<\/\1(Encrypted)?Assertion>/, '')
      .replace(
        /<(\w+:)StatusCode [^>]*\/>/,
        `<$1StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Requester"><$1StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:${code}"/></$1StatusCode>`,
      ),
  )

/** Settings that an administrator finds there, by default or as a choice, and the sentence about them. */
const refused: [vendor: string, title: string, respond: Respond, reason: RegExp][] = [
  ...['Okta', 'Entra ID', 'Keycloak', 'ADFS', 'OneLogin', 'JumpCloud', 'SimpleSAMLphp'].map(
    (vendor): (typeof refused)[number] => [
      vendor,
      'RSA-SHA1',
      (idp, requestId, { response }) => response(idp, requestId, sha1),
      /SignatureMethod is not allowed: it is RSA-SHA1\. Have the identity provider sign with RSA-SHA256/,
    ],
  ),
  [
    'Keycloak',
    'inclusive canonicalization',
    (idp, requestId, { response }) => response(idp, requestId, { canonicalization: inclusive }),
    /inclusive canonicalization\. Have the identity provider use exclusive/,
  ],
  [
    'Keycloak',
    'RSA_SHA256_MGF1',
    (idp, requestId, { response }) =>
      response(idp, requestId, {
        method: 'http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1',
      }),
    /it is RSA-PSS\. Have the identity provider sign with RSA-SHA256/,
  ],
  [
    'ADFS',
    'no claim rule for the requested NameID',
    status('InvalidNameIDPolicy'),
    /does not send the requested NameID format: set name_id_format/,
  ],
  [
    'Shibboleth',
    'no generator for the requested NameID',
    status('InvalidNameIDPolicy'),
    /does not send the requested NameID format: set name_id_format/,
  ],
  [
    'Shibboleth',
    'a transient NameID',
    byDefault.Shibboleth,
    /no id of the user that stays the same\. Have the identity provider send a NameID/,
  ],
  [
    'SimpleSAMLphp',
    'a transient NameID',
    byDefault.SimpleSAMLphp,
    /no id of the user that stays the same/,
  ],
  [
    'Ping',
    'an encrypted NameID',
    changed((xml) => xml.replace(/<saml:NameID [\s\S]*?<\/saml:NameID>/, '<saml:EncryptedID/>')),
    /its NameID is encrypted\. Have the identity provider encrypt the assertion instead/,
  ],
  [
    'Google Workspace',
    'a NameID in the format UNSPECIFIED and no attributes',
    changed((xml) => withoutMail(xml).replace(':emailAddress"', ':unspecified"')),
    /no usable email address\. Have the identity provider send it as the attribute email/,
  ],
]

/** Choices of administrators that are accepted. */
const accepted: [vendor: string, title: string, respond: Respond][] = [
  ...['Ping', 'Keycloak', 'SimpleSAMLphp'].map((vendor): (typeof accepted)[number] => [
    vendor,
    'RSA-SHA512',
    (idp, requestId, { response }) => response(idp, requestId, { method: `${dsigMore}rsa-sha512` }),
  ]),
  [
    'Ping',
    'RSA-SHA384',
    (idp, requestId, { response }) => signedBySha384(response(idp, requestId), idp),
  ],
  [
    'Keycloak',
    'exclusive canonicalization with comments',
    (idp, requestId, { response }) =>
      response(idp, requestId, {
        canonicalization: 'http://www.w3.org/2001/10/xml-exc-c14n#WithComments',
      }),
  ],
  [
    'Google Workspace',
    'a NameID in the format emailAddress of SAML 2.0, with white space, and no attributes',
    changed((xml) =>
      withoutMail(xml)
        .replace('SAML:1.1:nameid-format:emailAddress', 'SAML:2.0:nameid-format:emailAddress')
        .replace('>Ann.Lee@', '>\n  Ann.Lee@'),
    ),
  ],
  [
    'Shibboleth',
    'a transient NameID beside a pairwise-id',
    (idp, requestId) =>
      changed((xml) =>
        xml.replace(
          '</saml2:AttributeStatement>',
          '<saml2:Attribute Name="urn:oasis:names:tc:SAML:attribute:pairwise-id"><saml2:AttributeValue>HA2TKNZZGE@corp.example</saml2:AttributeValue></saml2:Attribute></saml2:AttributeStatement>',
        ),
      )(idp, requestId, { ...vendors.Shibboleth, response: byDefault.Shibboleth } as Vendor),
  ],
]

suite('identity providers with the settings of docs/sso.md', () => {
  const server = sharedServers()

  async function add(app: App, name: string) {
    const vendor = vendors[name]
    assert.ok(vendor)
    const idp = createVendorIdp(vendor)
    const options = documented(name)
    await app.db.deleteFrom('sso_providers').execute()
    const { id } = await addIdp(app, options, idp)
    return { vendor, idp, id, options }
  }

  for (const name of Object.keys(vendors)) {
    test(`metadata, response and mapping of ${name} sign a user in`, async () => {
      const { app } = await server(samlOn)
      const { vendor, idp, id, options } = await add(app, name)
      const subjects = []
      for (const _ of ['first', 'again']) {
        const { relayState, requestId, request } = await begin(app, { provider_id: id })
        const format =
          options.name_id_format ?? 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent'
        assert.ok(request.includes(`<samlp:NameIDPolicy Format="${format}"`), request)
        const redirect = await post(app, vendor.response(idp, requestId), relayState)
        assert.equal(redirect.status, 302, redirect.location.href)
        const { sub, email, user_metadata } = decodeJwt(redirect.fragment.access_token ?? '')
        subjects.push(sub)
        assert.equal(email, 'ann.lee@corp.example')
        const keys = Object.keys(expected[name] ?? {})
        const mapped = keys.map((key) => [key, Object(user_metadata)[key]])
        assert.deepEqual(Object.fromEntries(mapped), expected[name])
      }
      assert.equal(new Set(subjects).size, 1)
    })
  }

  for (const [name, title, respond] of accepted) {
    test(`${name} with ${title} signs a user in`, async () => {
      const { app } = await server(samlOn)
      const { vendor, idp, id } = await add(app, name)
      const { relayState, requestId } = await begin(app, { provider_id: id })
      const redirect = await post(app, await respond(idp, requestId, vendor), relayState)
      assert.equal(redirect.status, 302, redirect.location.href)
    })
  }

  for (const [name, title, respond, reason] of refused) {
    test(`${name} with ${title} is rejected with what to set`, async () => {
      const { app } = await server(samlOn)
      const { vendor, idp, id } = await add(app, name)
      const { relayState, requestId } = await begin(app, { provider_id: id })
      const redirect = await post(app, await respond(idp, requestId, vendor), relayState)
      assert.equal(redirect.status, 303)
      assert.match(redirect.query.error_description ?? '', reason)
    })
  }

  test('Shibboleth encrypts the assertion for a server that accepts it', async () => {
    for (const isAllowed of [true, false]) {
      const encryption = { AUTH_SAML_ALLOW_ENCRYPTED_ASSERTIONS: String(isAllowed) }
      const { app } = await server({ ...samlOn, ...encryption })
      const metadata = (await app.inject('/sso/saml/metadata')).body
      const [, certificate = ''] = /<X509Certificate>([^<]+)/.exec(metadata) ?? []
      const { vendor, idp, id } = await add(app, 'Shibboleth')
      const { relayState, requestId } = await begin(app, { provider_id: id })
      const xml = (await vendor.encrypted?.(idp, requestId, certificate)) ?? ''
      const { status: code, query, location } = await post(app, xml, relayState)
      assert.equal(code, isAllowed ? 302 : 303, location.href)
      if (isAllowed) continue
      assert.match(query.error_description ?? '', /Set AUTH_SAML_ALLOW_ENCRYPTED_ASSERTIONS=true/)
    }
  })

  test('Ping with a certificate of an elliptic curve is rejected with what to choose', async () => {
    const { app } = await server(samlOn)
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const made = selfSignedCertificate({ privateKey, host: 'idp.example', encrypts: false })
    const metadata_xml = vendors.Ping?.metadata(made.toString('base64'))
    const response = await ask(app, 'POST', '', { type: 'saml', metadata_xml })
    assert.equal(response.statusCode, 400)
    assert.match(response.json().msg, /no signing certificate with an RSA key of 2048 bits or more/)
  })
})
