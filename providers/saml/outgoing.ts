/** Sends signed messages to an identity provider through the browser (SAML 2.0 Bindings §3.4 and §3.5). */
import { sign } from 'node:crypto'
import { deflateRawSync } from 'node:zlib'

import { rsaSha256 } from './algorithms.ts'
import { loadXml } from './xml.ts'

export interface OutgoingMessage {
  kind: 'SAMLRequest' | 'SAMLResponse'
  xml: string
  relayState: string | undefined
  /** PEM. */
  privateKey: string
}

/** The redirect URL; the endpoint's own query is kept. */
export function redirectUrl(
  endpoint: string,
  { kind, xml, relayState, privateKey }: OutgoingMessage,
): string {
  const parameters = new URLSearchParams({
    [kind]: deflateRawSync(xml).toString('base64'),
    ...(relayState && { RelayState: relayState }),
    SigAlg: rsaSha256,
  })
  // The signature covers the encoded query in this order (Bindings §3.4.4.1).
  const signature = sign('sha256', Buffer.from(parameters.toString()), privateKey)
  parameters.set('Signature', signature.toString('base64'))
  return `${endpoint}${endpoint.includes('?') ? '&' : '?'}${parameters}`
}

/** The form fields that the browser posts. */
export async function formFields({
  kind,
  xml,
  relayState,
  privateKey,
}: OutgoingMessage): Promise<Record<string, string>> {
  const { signXml } = await loadXml()
  const issuer = `/*/*[local-name(.)='Issuer']`
  const options = { privateKey, signatureAlgorithm: 'sha256', digestAlgorithm: 'sha256' } as const
  const signed = signXml(xml, '/*', { reference: issuer, action: 'after' }, options)
  return {
    [kind]: Buffer.from(signed).toString('base64'),
    ...(relayState && { RelayState: relayState }),
  }
}
