/** Logout messages from identity providers, sent through the browser (SAML 2.0 Bindings §3.4 and §3.5). */
import { verify as verifySignature } from 'node:crypto'
import { inflateRawSync } from 'node:zlib'

import { maxXmlBytes } from './markup.ts'
import { rsaSha256 } from './outgoing.ts'
import { SamlError } from './saml-error.ts'
import { checkPlaces, toPem, verifiedContent } from './signature.ts'
import { childrenNamed, elementText, parseXml, type XmlDocument, type XmlElement } from './xml.ts'

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

const hashes: Record<string, string> = {
  [rsaSha256]: 'sha256',
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha512': 'sha512',
}

/** Parses the raw query, because the signature covers its encoding. Throws SamlError. Nothing is verified yet. */
export async function readRedirect(query: string): Promise<IncomingMessage> {
  const parameters = parametersIn(query)
  const kind = getKind(parameters)
  const read = (name: string) => decode(parameters.get(name) ?? '')
  const signedNames = [kind, 'RelayState', 'SigAlg'].filter((name) => parameters.has(name))
  const document = await parseXml(inflate(readBase64(read(kind))))
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
  const document = await parseXml(readBase64(fields[kind] ?? ''))
  return { ...readHead(document), relayState: fields.RelayState ?? '', detached: undefined }
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
  const root = await verifiedContent(document, document.root, certificates)
  if (!root) throw new SamlError('it is not signed')
  return root
}

function checkDetached(
  { signedText, algorithm, value }: DetachedSignature,
  certificates: readonly string[],
): void {
  if (value === '') throw new SamlError('it is not signed')
  const hash = Object.hasOwn(hashes, algorithm) ? hashes[algorithm] : undefined
  if (!hash) throw new SamlError('its SigAlg is not allowed')
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

export function readBase64(text: string): Buffer {
  const base64 = text.replace(/\s+/g, '')
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) throw new SamlError('it is not base64')
  return Buffer.from(base64, 'base64')
}

function inflate(bytes: Buffer): Buffer {
  try {
    return inflateRawSync(bytes, { maxOutputLength: maxXmlBytes })
  } catch {
    throw new SamlError('it cannot be inflated')
  }
}

function readHead(document: XmlDocument) {
  const [issuer] = childrenNamed(document.root, 'assertion', 'Issuer')
  return { document, issuer: elementText(issuer) }
}
