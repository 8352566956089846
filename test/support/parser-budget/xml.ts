/** SAML messages, which any client may send, and metadata. */
import { deflateRawSync } from 'node:zlib'

import { readIdpMetadata } from '../../../providers/saml/idp-metadata.ts'
import {
  buildAssertion,
  buildIdpMetadata,
  buildSamlResponse,
  type Idp,
  signed,
} from '../saml/idp.ts'
import { base64, buildLogoutRequest, idpWithLogout, postMessage, visit } from '../saml/logout.ts'
import { addIdp } from '../saml/server.ts'
import type { App } from '../server.ts'
import { fill, type Load, largeBytes, smallBytes } from './load.ts'

/** Text and markup within one element. */
const contents: Record<string, (bytes: number) => string> = {
  'comments between characters': (bytes) => fill(bytes, 'x<!---->'),
  'processing instructions': (bytes) => fill(bytes, '<?p?>'),
  elements: (bytes) => fill(bytes, '<b/>'),
  'elements between characters': (bytes) => fill(bytes, 'x<b/>'),
  'as many elements as are allowed': () => '<b/>'.repeat(960),
  'as many texts as are allowed': () => 'x<b/>'.repeat(480),
  'CDATA sections': (bytes) => fill(bytes, 'x<![CDATA[]]>'),
  'as many CDATA sections as are allowed': () => 'x<![CDATA[y]]>'.repeat(480),
  entities: (bytes) => fill(bytes, '&lt;'),
  'white space': (bytes) => fill(bytes, ' \n'),
  'attributes of each element': (bytes) => fill(bytes, `<b ${attributes(32)}/>`),
  'as many attributes as are allowed': () => `<b ${attributes(32)}/>`.repeat(60),
  'attributes without values': (bytes) => `<b ${fill(bytes, 'a ')}/>`,
  'one attribute': (bytes) => `<b a="${fill(bytes, '&lt;')}"/>`,
  'namespaces in scope': (bytes) => nested(60, namespaces(16), fill(bytes / 2, '<b/>')),
  'as many namespaces in scope as are allowed': (bytes) =>
    nested(60, namespaces(1), fill(Math.min(bytes / 2, 3_000), '<b xmlns:c="d" c:e=""/>')),
  levels: (bytes) => nested(bytes / 7, '', ''),
  'elements at the lowest level': (bytes) =>
    nested(60, '', fill(Math.min(bytes / 2, 3_200), '<b/>')),
  'tags that do not end': (bytes) => fill(bytes, '<a'),
  'comments that do not end': (bytes) => fill(bytes, '<!--'),
  'quotes that do not end': (bytes) => `<a ${fill(bytes, `"b"'`)}`,
}

const attributes = (count: number) =>
  Array.from({ length: count }, (_, at) => `a${at}=""`).join(' ')
const namespaces = (count: number) =>
  Array.from({ length: count }, (_, at) => `xmlns:n${at}="${at}"`).join(' ')
const nested = (levels: number, more: string, content: string) =>
  `<a ${more}>`.repeat(levels) + content + '</a>'.repeat(levels)

const extensions = (content: string) =>
  `<samlp:Extensions xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol">${content}</samlp:Extensions>`

/** Of messages: a larger body is not read. */
const largeContents = ['comments between characters', 'elements', 'white space', 'one attribute']

/** Documents that are not signed, that have a copied signature, and that the identity provider signed. */
export async function xmlLoads(app: App): Promise<Load[]> {
  const { idp } = await addIdp(app, {}, idpWithLogout('HTTP-POST'))
  const loads = [smallBytes, largeBytes].flatMap((bytes) =>
    Object.entries(contents).flatMap(([title, make]) => {
      const content = make(bytes - 8_000)
      const messages = [
        acs(app, bytes, `${title}, without a signature`, unsigned(idp, content)),
        acs(app, bytes, `${title}, with a copied signature`, copied(idp, content)),
        acs(app, bytes, `${title}, in SignedInfo`, inSignedInfo(idp, content)),
        acs(app, bytes, `${title}, in EncryptedKey`, inEncryptedKey(idp, content)),
        slo(app, bytes, title, idp, content),
      ]
      const isSent = bytes === smallBytes || largeContents.includes(title)
      return [...(isSent ? messages : []), metadata(bytes, title, idp, content)]
    }),
  )
  return [...loads, signedLoad(app, idp)]
}

const acs = (app: App, bytes: number, title: string, xml: string): Load => ({
  parser: 'SAML response',
  title,
  bytes,
  run: () => postResponse(app, xml),
})

/** A longer body than the route reads is answered without a redirect. */
function postResponse(app: App, xml: string) {
  const payload = new URLSearchParams({ SAMLResponse: base64(xml) }).toString()
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  return app.inject({ method: 'POST', url: '/sso/saml/acs', headers, payload })
}

const unsigned = (idp: Idp, content: string) =>
  buildSamlResponse({ idp }, extensions(content), buildAssertion({ idp }))

const copied = (idp: Idp, content: string) =>
  buildSamlResponse({ idp }, extensions(content), signed(buildAssertion({ idp }), 'Assertion', idp))

const inSignedInfo = (idp: Idp, content: string) =>
  signed(buildAssertion({ idp }), 'Assertion', idp).replace(
    '</SignedInfo>',
    `${content}</SignedInfo>`,
  )

/** The key, which is not authenticated, is serialized and parsed again. */
function inEncryptedKey(idp: Idp, content: string): string {
  const xmlenc = 'http://www.w3.org/2001/04/xmlenc#'
  const method = (algorithm: string) => `<e:EncryptionMethod Algorithm="${algorithm}"/>`
  const cipher = '<e:CipherData><e:CipherValue>eA==</e:CipherValue></e:CipherData>'
  const data = `<e:EncryptedData>${method('http://www.w3.org/2009/xmlenc11#aes256-gcm')}${cipher}</e:EncryptedData>`
  const key = `<e:EncryptedKey>${method(`${xmlenc}rsa-oaep-mgf1p`)}${cipher}${content}</e:EncryptedKey>`
  return buildSamlResponse(
    { idp },
    `<saml:EncryptedAssertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" xmlns:e="${xmlenc}">${data}${key}</saml:EncryptedAssertion>`,
  )
}

function slo(app: App, bytes: number, title: string, idp: Idp, content: string): Load {
  const xml = buildLogoutRequest(idp).replace(
    '</saml:Issuer>',
    `</saml:Issuer>${extensions(content)}`,
  )
  const deflated = deflateRawSync(xml)
    .toString('base64url')
    .replaceAll('-', '%2B')
    .replaceAll('_', '%2F')
  const run = async () => {
    await postMessage(app, { SAMLRequest: base64(xml) })
    await visit(app, `/sso/saml/slo?SAMLRequest=${deflated}&SigAlg=x&Signature=eA==`)
  }
  return { parser: 'SAML logout', title, bytes, run }
}

function metadata(bytes: number, title: string, idp: Idp, content: string): Load {
  const xml = buildIdpMetadata(idp.entityId, [idp.certificate], {
    services: `<Extensions>${content}</Extensions>`,
  })
  const run = () => readIdpMetadata(xml).catch(() => undefined)
  return { parser: 'SAML metadata', title, bytes, run }
}

/** What an identity provider itself can send: it is authentic. */
function signedLoad(app: App, idp: Idp): Load {
  const groups = Array.from({ length: 400 }, (_, at) => `${at}`.padEnd(100, 'x'))
  const assertion = buildAssertion({ idp, attributes: { mail: ['ann@corp.example'], groups } })
  const once = signed(assertion, 'Assertion', idp)
  const twice = signed(buildSamlResponse({ idp }, once), 'Response', idp)
  const run = () => postResponse(app, twice)
  return {
    parser: 'SAML response',
    title: 'groups, signed twice by the provider',
    bytes: smallBytes,
    run,
  }
}
