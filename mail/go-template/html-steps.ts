/** Reads HTML character by character and tracks the context of each (HTML standard, 13.2.5 Tokenization). */

export type Position =
  | 'text'
  | 'attribute'
  | 'unquoted'
  | 'url'
  | 'url-rest'
  | 'query'
  | 'comment'
  | 'forbidden'

const urlAttributes = new Set([
  'href',
  'xlink:href',
  'src',
  'data',
  'action',
  'formaction',
  'background',
  'poster',
  'cite',
])

type State = 'text' | 'comment' | 'tag-name' | 'tag' | 'attribute-name' | 'before-value' | 'value'

/** The parts of a link before a value. Where branches meet, the later one of these counts: it allows less. */
export const linkParts = ['path', 'nothing', 'values', 'query'] as const
type LinkPart = (typeof linkParts)[number]

/** A position in the HTML, after the characters read so far. */
export interface HtmlContext {
  state: State
  tag: string
  attribute: string
  quote: string
  link: LinkPart
  tail: string
  /** The last characters of a comment, which determine whether a `>` ends it. */
  comment: string
}

/** Inside <script> and <style> only their own end tag counts. */
export const isRaw = ({ tag }: HtmlContext) => tag === 'script' || tag === 'style'

const readers: Record<State, (spot: HtmlContext, char: string, rest: string) => void> = {
  text: inText,
  comment: inComment,
  'tag-name': inTagName,
  tag: inTag,
  'attribute-name': inAttributeName,
  'before-value': beforeValue,
  value: inValue,
}

/** Reads one character. `rest` begins with it. */
export function step(spot: HtmlContext, char: string, rest: string): void {
  readers[spot.state](spot, char, rest)
}

function inText(spot: HtmlContext, char: string, rest: string): void {
  if (char !== '<') return
  const raw = isRaw(spot)
  const closes = rest.slice(1, 2 + spot.tag.length).toLowerCase() === `/${spot.tag}`
  if (!raw && startsComment(rest)) {
    spot.state = 'comment'
    spot.comment = ''
    return
  }
  if (raw ? !closes : !/^<\/?[a-z]/i.test(rest)) return
  // The slash of an end tag stays in its name, so that </script> does not open a script.
  spot.tag = ''
  spot.state = 'tag-name'
}

/** Browsers also accept <!--> and --!> as ends. */
function inComment(spot: HtmlContext, char: string): void {
  if (char === '>' && /--!?$/.test(spot.comment)) spot.state = 'text'
  spot.comment = (spot.comment + char).slice(-3)
}

function inTagName(spot: HtmlContext, char: string): void {
  if (/[\s/>]/.test(char)) spot.state = 'tag'
  else spot.tag += char.toLowerCase()
  if (char === '>') spot.state = 'text'
}

function inTag(spot: HtmlContext, char: string): void {
  if (char === '>') spot.state = 'text'
  if (/[\s/'"=>]/.test(char)) return
  spot.attribute = char.toLowerCase()
  spot.state = 'attribute-name'
}

function inAttributeName(spot: HtmlContext, char: string, rest: string): void {
  if (char === '>') spot.state = 'text'
  else if (char === '=') spot.state = 'before-value'
  else if (/\s/.test(char)) spot.state = /^\s*=/.test(rest) ? 'attribute-name' : 'tag'
  else spot.attribute += char.toLowerCase()
}

function beforeValue(spot: HtmlContext, char: string): void {
  if (char === '>') spot.state = 'text'
  else if (!/\s/.test(char)) openValue(spot, char)
}

export function openValue(spot: HtmlContext, char: string): void {
  spot.state = 'value'
  spot.quote = char === '"' || char === "'" ? char : ''
  spot.link = 'nothing'
  if (!spot.quote) readLink(spot, char)
}

function inValue(spot: HtmlContext, char: string): void {
  const isOver = spot.quote ? char === spot.quote : /[\s>]/.test(char)
  if (isOver) spot.state = char === '>' ? 'text' : 'tag'
  else readLink(spot, char)
}

function readLink(spot: HtmlContext, char: string): void {
  if (/[?#&=]/.test(char)) spot.link = 'query'
  // Browsers skip blanks and control characters in front of a link.
  else if (char > ' ' && spot.link !== 'query') spot.link = 'path'
}

export function inAttribute(spot: HtmlContext): Position {
  const { attribute, quote, link } = spot
  if (/^(?:on.*|style|srcdoc)$/.test(attribute)) return 'forbidden'
  if (!urlAttributes.has(attribute) || link === 'path') return quote ? 'attribute' : 'unquoted'
  if (link === 'query') return 'query'
  spot.link = 'values'
  if (link === 'nothing') return quote ? 'url' : 'unquoted'
  return quote ? 'url-rest' : 'forbidden'
}

/** Comments that Outlook reads as HTML (`<!--[if mso]>`) are read as HTML here, too. */
function startsComment(rest: string): boolean {
  return rest.startsWith('<!--') && !/^<!--\[if/i.test(rest)
}
