/** An identity provider with single logout, whose messages node-saml makes and reads. */
import assert from 'node:assert/strict'

import { SAML } from '@node-saml/node-saml'

import type { App } from '../server.ts'
import { createIdp, type Idp, samlService, signed } from './idp.ts'

export const sloUrl = 'http://auth.example/sso/saml/slo'
const spEntityId = 'http://auth.example/sso/saml/metadata'

export type Binding = 'HTTP-Redirect' | 'HTTP-POST'

/** With single logout by these bindings. */
export function idpWithLogout(...bindings: Binding[]): Idp {
  return createIdp(undefined, (entityId) =>
    [
      ...bindings.map((binding) =>
        samlService(
          'SingleLogoutService',
          binding,
          `${entityId}/slo?by=${binding}`,
          ` ResponseLocation="${entityId}/slo-response?by=${binding}"`,
        ),
      ),
      samlService('SingleSignOnService', 'HTTP-Redirect', `${entityId}/sso?tenant=1`),
    ].join(''),
  )
}

/** node-saml in the place of the provider. */
export async function createSamlPeer(app: App, { entityId, privateKey }: Idp): Promise<SAML> {
  const metadata = (await app.inject('/sso/saml/metadata')).body
  return new SAML({
    issuer: entityId,
    idpIssuer: spEntityId,
    idpCert: /<X509Certificate>([^<]+)/.exec(metadata)?.[1] ?? '',
    callbackUrl: `${entityId}/sso`,
    entryPoint: sloUrl,
    logoutUrl: sloUrl,
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    signatureAlgorithm: 'sha256',
    digestAlgorithm: 'sha256',
  })
}

export interface LogoutOptions {
  nameId?: string
  sessionIndexes?: string[]
  destination?: string
  issuer?: string
  issuedAt?: Date
  id?: string
  more?: string
}

/** The XML of a LogoutRequest. */
export function buildLogoutRequest({ entityId }: Idp, options: LogoutOptions = {}): string {
  const { nameId = 'ann', sessionIndexes = [], destination = sloUrl, issuer = entityId } = options
  const { issuedAt = new Date(), id = `_${crypto.randomUUID()}`, more = '' } = options
  const indexes = sessionIndexes.map((each) => `<samlp:SessionIndex>${each}</samlp:SessionIndex>`)
  return `<samlp:LogoutRequest xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="${id}" Version="2.0" IssueInstant="${issuedAt.toISOString()}" Destination="${destination}"${more}><saml:Issuer>${issuer}</saml:Issuer><saml:NameID>${nameId}</saml:NameID>${indexes.join('')}</samlp:LogoutRequest>`
}

/** A signature of the whole message, as HTTP-POST has it. */
export const signedMessage = (xml: string, idp: Idp, name: 'LogoutRequest' | 'LogoutResponse') =>
  signed(xml, name, idp)

/** The form of the page that posts itself. */
export function formIn(html: string) {
  const action = decode(/<form method="post" action="([^"]+)"/.exec(html)?.[1] ?? '')
  const inputs = [...html.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g)]
  const fields = Object.fromEntries(
    inputs.map(([, name = '', value = '']) => [name, decode(value)]),
  )
  assert.match(html, /<script>document\.forms\[0\]\.submit\(\)<\/script>/)
  return { action, fields }
}

const decode = (text: string) =>
  text.replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))

/** A browser that is sent to the endpoint of single logout. */
export function visit(app: App, url: string) {
  return app.inject({ method: 'GET', url: url.replace('http://auth.example', '') })
}

export function postMessage(app: App, fields: Record<string, string>) {
  return app.inject({
    method: 'POST',
    url: '/sso/saml/slo',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams(fields).toString(),
  })
}

export const base64 = (xml: string) => Buffer.from(xml).toString('base64')
