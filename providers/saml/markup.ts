/**
 * Checks a document in one pass before parsing: parsers and canonicalization take quadratic time for some malformed or
 * extreme documents, and any client may send one.
 */
import { SamlError } from './values.ts'

export interface XmlLimits {
  bytes: number
  /** Elements, texts, CDATA sections and comments. */
  nodes: number
  attributes: number
  hasComments: boolean
  /** What to do about a longer document. */
  advice: string
}

/** Messages, which any client may send. Identity providers write no comments into them. */
export const messageLimits: XmlLimits = {
  bytes: 65_536,
  nodes: 1_000,
  attributes: 2_000,
  hasComments: false,
  advice: 'Have the identity provider send fewer groups and attributes',
}

/** Documents that an admin sends, or that are fetched from an address of an admin. That of ADFS has 80 KB. */
export const descriptorLimits: XmlLimits = {
  bytes: 262_144,
  nodes: 10_000,
  attributes: 10_000,
  hasComments: true,
  advice: 'Leave out descriptors other than IDPSSODescriptor',
}

const maxDepth = 64
/** Per element. */
const maxAttributes = 32
/** Declarations that apply to one element: parsers and canonicalization copy them for each child. */
const maxNamespaces = 64
/** Canonicalization repeats a name for each element that uses it. */
const maxNamespaceLength = 256

/**
 * A tag whose attribute values contain no `<`, as XML requires (§2.3). Unambiguous, so that matching takes linear time.
 */
const tagPattern = /<\/?[^\s<>"'/!?=][^<>"']*(?:(?:"[^"<]*"|'[^'<]*')[^<>"']*)*>/y
/** The next attribute of a tag: its name with what precedes it, and its value in quotes. Sticky, for linear time. */
const attributePattern = /([^"']*)("[^"]*"|'[^']*')/y

interface Size {
  nodes: number
  attributes: number
  /** The number of namespace declarations of each open element. */
  open: number[]
  namespaces: number
}

/**
 * Rejects DTDs, which define entities, processing instructions other than the XML declaration, and what exceeds the
 * limits. Throws SamlError.
 */
export function checkMarkup(text: string, limits: XmlLimits): void {
  const size: Size = { nodes: 0, attributes: 0, open: [], namespaces: 0 }
  let at = declarationEnd(text)
  for (let start = text.indexOf('<', at); start !== -1; start = text.indexOf('<', at)) {
    size.nodes += start > at ? 1 : 0
    at = text.startsWith('<!', start)
      ? sectionEnd(text, start, size, limits)
      : tagEnd(text, start, size)
    checkSize(size, limits)
  }
}

/** Throws SamlError. */
export function checkBytes({ length }: Uint8Array, { bytes, advice }: XmlLimits): void {
  if (length > bytes) throw new SamlError(`it is longer than ${bytes} bytes. ${advice}`)
}

function checkSize({ nodes, attributes }: Size, limits: XmlLimits): void {
  if (nodes > limits.nodes) {
    throw new SamlError(`it has more than ${limits.nodes} elements and texts. ${limits.advice}`)
  }
  if (attributes > limits.attributes) {
    throw new SamlError(`it has more than ${limits.attributes} XML attributes. ${limits.advice}`)
  }
}

function declarationEnd(text: string): number {
  const declaration = /^\s*<\?xml\s[^<>]*\?>/.exec(text)
  return declaration ? declaration[0].length : 0
}

/** The end of a comment or CDATA section. */
function sectionEnd(text: string, start: number, size: Size, limits: XmlLimits): number {
  size.nodes += 1
  if (text.startsWith('<!--', start)) {
    if (!limits.hasComments) throw new SamlError('it has a comment')
    return endAfter(text, '-->', start + 4)
  }
  if (text.startsWith('<![CDATA[', start)) return endAfter(text, ']]>', start + 9)
  throw new SamlError('it has a document type definition')
}

function endAfter(text: string, terminator: string, from: number): number {
  const end = text.indexOf(terminator, from)
  if (end === -1) throw notWellFormed()
  return end + terminator.length
}

function tagEnd(text: string, start: number, size: Size): number {
  if (text.startsWith('<?', start)) throw new SamlError('it has a processing instruction')
  tagPattern.lastIndex = start
  const [tag] = tagPattern.exec(text) ?? []
  if (tag === undefined) throw notWellFormed()
  if (tag.startsWith('</')) size.namespaces -= size.open.pop() ?? 0
  else openElement(tag, size)
  return start + tag.length
}

function openElement(tag: string, size: Size): void {
  const namespaces = countNamespaces(tag, size)
  size.nodes += 1
  if (size.namespaces + namespaces > maxNamespaces) {
    throw new SamlError('it has too many namespaces')
  }
  if (tag.endsWith('/>')) return
  size.open.push(namespaces)
  size.namespaces += namespaces
  if (size.open.length > maxDepth) throw new SamlError(`it is more than ${maxDepth} levels deep`)
}

/** Counts the attributes as well. */
function countNamespaces(tag: string, size: Size): number {
  let [attributes, namespaces] = [0, 0]
  attributePattern.lastIndex = 0
  for (let found = attributePattern.exec(tag); found; found = attributePattern.exec(tag)) {
    attributes += 1
    if (attributes > maxAttributes) throw new SamlError('an element has too many attributes')
    const [, before = '', value = ''] = found
    if (!before.split(/\s+/).some((part) => part.startsWith('xmlns'))) continue
    namespaces += 1
    if (value.length > maxNamespaceLength) {
      throw new SamlError(`a namespace has more than ${maxNamespaceLength} characters`)
    }
  }
  size.attributes += attributes
  return namespaces
}

const notWellFormed = () => new SamlError('it is not well-formed XML')
