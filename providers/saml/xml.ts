/**
 * Parses XML of unauthenticated clients: limited in size, without DTDs, and with two parsers that must both accept it
 * before anything is read.
 */
import { createRequire } from 'node:module'

import { checkBytes, checkMarkup, type XmlLimits } from './markup.ts'
import { SamlError } from './values.ts'

/** Not by `import`: the types of the library would add those of browsers to the whole server. */
const require = createRequire(import.meta.url)

const elementNode = 1

/** The used part of the DOM types. */
export interface XmlElement {
  nodeType: number
  localName: string
  namespaceURI: string | null
  textContent: string | null
  childNodes: ArrayLike<XmlElement>
  attributes: ArrayLike<{ name: string; value: string }>
  parentNode: XmlElement | null
  nextSibling: XmlElement | null
  removeChild(child: XmlElement): void
  insertBefore(child: XmlElement, next: XmlElement | null): void
  getAttribute(name: string): string
}

export interface XmlDocument {
  root: XmlElement
  /** Every element, in document order. */
  elements: XmlElement[]
}

type Report = (reason: unknown) => never

interface Dom {
  DOMParser: new (options: {
    errorHandler: Record<'warning' | 'error' | 'fatalError', Report>
  }) => {
    parseFromString(text: string, type: string): unknown
  }
}

export const namespaces = {
  protocol: 'urn:oasis:names:tc:SAML:2.0:protocol',
  assertion: 'urn:oasis:names:tc:SAML:2.0:assertion',
  metadata: 'urn:oasis:names:tc:SAML:2.0:metadata',
  signature: 'http://www.w3.org/2000/09/xmldsig#',
  exclusive: 'http://www.w3.org/2001/10/xml-exc-c14n#',
  encryption: 'http://www.w3.org/2001/04/xmlenc#',
  encryption11: 'http://www.w3.org/2009/xmlenc11#',
} as const

/** Throws SamlError. */
export async function parseXml(bytes: Uint8Array, limits: XmlLimits): Promise<XmlDocument> {
  checkBytes(bytes, limits)
  const text = decodeUtf8(bytes)
  checkMarkup(text, limits)
  const root = await parseRoot(text)
  const elements = elementsIn(root)
  checkIds(elements)
  return { root, elements }
}

async function parseRoot(text: string): Promise<XmlElement> {
  const { default: sax } = await import('sax')
  const { DOMParser }: Dom = require('@xmldom/xmldom')
  try {
    // The stricter parser; the other one repairs some errors.
    const strict = sax.parser(true)
    strict.onerror = fail
    strict.write(text).close()
    const dom = new DOMParser({ errorHandler: { warning: fail, error: fail, fatalError: fail } })
    return documentElement(dom.parseFromString(text, 'text/xml'))
  } catch {
    throw new SamlError('it is not well-formed XML')
  }
}

function fail(reason: unknown): never {
  throw reason
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new SamlError('it is not UTF-8')
  }
}

function documentElement(document: unknown): XmlElement {
  if (typeof document === 'object' && document !== null && 'documentElement' in document) {
    const root = document.documentElement
    if (isElement(root)) return root
  }
  throw new SamlError('it has no root element')
}

function isElement(node: unknown): node is XmlElement {
  return (
    typeof node === 'object' && node !== null && 'nodeType' in node && node.nodeType === elementNode
  )
}

function elementsIn(root: XmlElement): XmlElement[] {
  return [root, ...listChildren(root).flatMap(elementsIn)]
}

/** A signature refers to an element by id, so ids must be unique. */
function checkIds(elements: readonly XmlElement[]): void {
  const seen = new Set<string>()
  for (const { attributes } of elements) {
    for (const { name, value } of Array.from(attributes)) {
      if (!/^(xml:)?id$/i.test(name)) continue
      if (seen.has(value)) throw new SamlError('two elements have the same id')
      seen.add(value)
    }
  }
}

function listChildren(element: XmlElement): XmlElement[] {
  return Array.from(element.childNodes).filter((node) => node.nodeType === elementNode)
}

/** The nodes of every kind below the element. */
export function countNodes({ childNodes }: XmlElement): number {
  const counts = Array.from(childNodes, (node) => (isElement(node) ? countNodes(node) : 0))
  return counts.reduce((sum, count) => sum + count, counts.length)
}

/** The elements around the element, the nearest first. */
export function listAncestors({ parentNode }: XmlElement): XmlElement[] {
  return isElement(parentNode) ? [parentNode, ...listAncestors(parentNode)] : []
}

/** Children with this name and namespace. */
export function childrenNamed(
  element: XmlElement,
  namespace: keyof typeof namespaces,
  name: string,
): XmlElement[] {
  return listChildren(element).filter((child) => isNamed(child, namespace, name))
}

export function isNamed(
  { localName, namespaceURI }: XmlElement,
  namespace: keyof typeof namespaces,
  name: string,
): boolean {
  return localName === name && namespaceURI === namespaces[namespace]
}

/** An element's trimmed text; '' for a missing element. */
export const elementText = (element: XmlElement | undefined): string =>
  (element?.textContent ?? '').trim()

export function escapeXml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
