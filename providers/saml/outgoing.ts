/** Sends signed messages to an identity provider through the browser (SAML 2.0 Bindings §3.4 and §3.5). */
import { sign } from 'node:crypto'
import { deflateRawSync } from 'node:zlib'

import { ownSignatures, rsaSha256 } from './algorithms.ts'

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
  const { SignedXml } = await import('xml-crypto')
  const signature = new SignedXml({ privateKey, ...ownSignatures.methods })
  signature.addReference({ xpath: '/*', ...ownSignatures.reference })
  const location = { reference: "/*/*[local-name(.)='Issuer']", action: 'after' } as const
  signature.computeSignature(xml, { location })
  return {
    [kind]: Buffer.from(signature.getSignedXml()).toString('base64'),
    ...(relayState && { RelayState: relayState }),
  }
}
