/**
 * Checks a document in one pass before parsing: parsers take quadratic time for some malformed or extreme documents,
 * and any client may send one.
 */
import { SamlError } from './saml-error.ts'

export const maxXmlBytes = 1_048_576
export const maxDepth = 64
/** Maximum number of elements and attributes. */
const maxNodes = 10_000
/** Per element; a parser copies an element's namespaces for each child that declares one. */
const maxAttributes = 32

/**
 * A tag whose attribute values contain no `<`, as XML requires (§2.3). Unambiguous, so that matching takes linear time.
 */
const tagPattern = /<\/?[^\s<>"'/!?=][^<>"']*(?:(?:"[^"<]*"|'[^'<]*')[^<>"']*)*>/y

/**
 * Rejects DTDs, which define entities, and processing instructions other than the XML declaration. Throws SamlError.
 */
export function checkMarkup(text: string): void {
  const size = { depth: 0, nodes: 0 }
  let at = declarationEnd(text)
  for (let start = text.indexOf('<', at); start !== -1; start = text.indexOf('<', at)) {
    at = text.startsWith('<!', start) ? sectionEnd(text, start) : tagEnd(text, start, size)
  }
}

function declarationEnd(text: string): number {
  const declaration = /^\s*<\?xml\s[^<>]*\?>/.exec(text)
  return declaration ? declaration[0].length : 0
}

/** The end of a comment or CDATA section. */
function sectionEnd(text: string, start: number): number {
  if (text.startsWith('<!--', start)) return endAfter(text, '-->', start + 4)
  if (text.startsWith('<![CDATA[', start)) return endAfter(text, ']]>', start + 9)
  throw new SamlError('it has a document type definition')
}

function endAfter(text: string, terminator: string, from: number): number {
  const end = text.indexOf(terminator, from)
  if (end === -1) throw notWellFormed()
  return end + terminator.length
}

function tagEnd(text: string, start: number, size: { depth: number; nodes: number }): number {
  if (text.startsWith('<?', start)) throw new SamlError('it has a processing instruction')
  tagPattern.lastIndex = start
  const [tag] = tagPattern.exec(text) ?? []
  if (tag === undefined) throw notWellFormed()
  const attributes = tag.match(/["'][^"']*["']/g)?.length ?? 0
  if (attributes > maxAttributes) throw new SamlError('an element has too many attributes')
  if (!tag.startsWith('</')) size.nodes += 1 + attributes
  if (size.nodes > maxNodes) throw new SamlError('it has too many elements')
  if (tag.startsWith('</')) size.depth -= 1
  else if (!tag.endsWith('/>')) size.depth += 1
  if (size.depth > maxDepth) throw new SamlError(`it is more than ${maxDepth} levels deep`)
  return start + tag.length
}

const notWellFormed = () => new SamlError('it is not well-formed XML')
