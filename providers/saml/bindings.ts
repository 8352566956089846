/** Messages sent through the browser, to and from an identity provider (SAML 2.0 Bindings §3.4 and §3.5). */
import { sign, verify as verifySignature } from 'node:crypto'
import { deflateRawSync, inflateRawSync } from 'node:zlib'

import { ownSignatures, readSignatureMethod, rsaSha256 } from './algorithms.ts'
import { messageLimits } from './markup.ts'
import { checkPlaces, toPem, verifiedContent } from './signature.ts'
import { readBase64, SamlError } from './values.ts'
import { childrenNamed, elementText, parseXml, type XmlDocument, type XmlElement } from './xml.ts'

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

export interface IncomingMessage {
  document: XmlDocument
  /** The claimed issuer, before verification. */
  issuer: string
  relayState: string
  /** Set for a message in a query, whose signature is outside the XML. */
  detached: DetachedSignature | undefined
}

interface DetachedSignature {
  signedText: string
  algorithm: string
  value: string
}

/** Parses the raw query, because the signature covers its encoding. Throws SamlError. Nothing is verified yet. */
export async function readRedirect(query: string): Promise<IncomingMessage> {
  const parameters = parametersIn(query)
  const kind = getKind(parameters)
  const read = (name: string) => decode(parameters.get(name) ?? '')
  const signedNames = [kind, 'RelayState', 'SigAlg'].filter((name) => parameters.has(name))
  const document = await parseXml(inflate(readBase64(read(kind))), messageLimits)
  return {
    ...readHead(document),
    relayState: read('RelayState'),
    detached: {
      signedText: signedNames.map((name) => `${name}=${parameters.get(name)}`).join('&'),
      algorithm: read('SigAlg'),
      value: read('Signature'),
    },
  }
}

/** Parses the form fields. Throws SamlError. Nothing is verified yet. */
export async function readForm(fields: Record<string, string>): Promise<IncomingMessage> {
  const kind = getKind(new Map(Object.entries(fields)))
  const document = await parseXml(readBase64(fields[kind] ?? ''), messageLimits)
  return { ...readHead(document), relayState: fields.RelayState ?? '', detached: undefined }
}

export function isSigned({ document, detached }: IncomingMessage): boolean {
  if (detached) return detached.value !== ''
  return childrenNamed(document.root, 'signature', 'Signature').length > 0
}

/** Returns the root of the message as it was signed. Throws SamlError unless one of these certificates signed it. */
export async function verifiedRoot(
  { document, detached }: IncomingMessage,
  certificates: readonly string[],
): Promise<XmlElement> {
  if (detached) {
    checkDetached(detached, certificates)
    return document.root
  }
  checkPlaces(document, [document.root])
  const root = await verifiedContent(document.root, certificates)
  if (!root) throw new SamlError('it is not signed')
  return root
}

function checkDetached(
  { signedText, algorithm, value }: DetachedSignature,
  certificates: readonly string[],
): void {
  if (value === '') throw new SamlError('it is not signed')
  const hash = readSignatureMethod(algorithm, 'SigAlg')
  const [text, signature] = [Buffer.from(signedText), readBase64(value)]
  const isValid = certificates.some((each) => verifySignature(hash, text, toPem(each), signature))
  if (!isValid) throw new SamlError('its signature is not valid')
}

/** Each parameter must occur once and stays encoded: with two values, one could be verified and the other read. */
function parametersIn(query: string): Map<string, string> {
  const parameters = new Map<string, string>()
  for (const part of query.split('&').filter(Boolean)) {
    const [name = '', ...rest] = part.split('=')
    const known = decode(name)
    if (parameters.has(known)) throw new SamlError('a parameter is repeated')
    parameters.set(known, rest.join('='))
  }
  return parameters
}

function getKind(parameters: ReadonlyMap<string, unknown>): 'SAMLRequest' | 'SAMLResponse' {
  const kinds = (['SAMLRequest', 'SAMLResponse'] as const).filter((name) => parameters.has(name))
  const [kind] = kinds
  if (!kind || kinds.length > 1) throw new SamlError('it must be one SAMLRequest or SAMLResponse')
  return kind
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw new SamlError('its query is not URL-encoded')
  }
}

function inflate(bytes: Buffer): Buffer {
  try {
    return inflateRawSync(bytes, { maxOutputLength: messageLimits.bytes })
  } catch {
    throw new SamlError('it cannot be inflated')
  }
}

function readHead(document: XmlDocument) {
  const [issuer] = childrenNamed(document.root, 'assertion', 'Issuer')
  return { document, issuer: elementText(issuer) }
}
