/**
 * Tracks the HTML context through the literal text of a template. Escaping keeps a value inside its context; in a link
 * the context also restricts the value: it must not start a `javascript:` URL or add a query parameter.
 */

export type { HtmlContext, Position }

export interface HtmlCursor {
  read(literal: string): void
  /** Returns the context of a value inserted here and moves past it. */
  value(): Position
  mark(): HtmlContext
  reset(spot: HtmlContext): void
  /** The following text may be repeated, so it may also follow its own values. */
  enterLoop(): void
  /** Joins two branches. Returns false when their contexts differ, so that no text can follow. */
  meet(other: HtmlContext): boolean
}

const start: HtmlContext = {
  state: 'text',
  tag: '',
  attribute: '',
  quote: '',
  link: 'nothing',
  tail: '',
  comment: '',
}

export function createHtmlCursor(): HtmlCursor {
  const spot = { ...start }
  return {
    read(literal) {
      for (let i = 0; i < literal.length; i++) {
        step(spot, literal.charAt(i), literal.slice(i, i + 12))
      }
      spot.tail = literal.slice(-2)
    },
    value() {
      if (spot.state === 'before-value') openValue(spot, '')
      if (spot.state === 'value') return inAttribute(spot)
      if (spot.state === 'comment') return 'comment'
      return spot.state === 'text' && !isRaw(spot) && !/<\/?$/.test(spot.tail)
        ? 'text'
        : 'forbidden'
    },
    mark: () => ({ ...spot }),
    reset(other) {
      Object.assign(spot, other)
    },
    enterLoop() {
      if (spot.link === 'nothing') spot.link = 'values'
    },
    meet(other) {
      if (describePosition(spot) !== describePosition(other)) return false
      const rank = Math.max(linkParts.indexOf(spot.link), linkParts.indexOf(other.link))
      spot.link = linkParts[rank] ?? spot.link
      if (other.tail.endsWith('<') || other.tail.endsWith('</')) spot.tail = other.tail
      return true
    },
  }
}

/** Equal for contexts that differ only in the part of a link. */
function describePosition({ state, tag, attribute, quote }: HtmlContext): string {
  const raw = tag === 'script' || tag === 'style' ? tag : ''
  if (state === 'comment') return state
  if (state === 'text' || state === 'tag') return `${state} ${raw}`
  if (state === 'tag-name') return `${state} ${tag}`
  return `${state} ${raw} ${attribute} ${state === 'value' ? quote : ''}`
}

// Reads HTML character by character and tracks the context of each (HTML standard, 13.2.5 Tokenization).

type Position =
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
const linkParts = ['path', 'nothing', 'values', 'query'] as const

type LinkPart = (typeof linkParts)[number]

/** A position in the HTML, after the characters read so far. */
interface HtmlContext {
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
const isRaw = ({ tag }: HtmlContext) => tag === 'script' || tag === 'style'

const readers: Record<State, (context: HtmlContext, char: string, rest: string) => void> = {
  text: inText,
  comment: inComment,
  'tag-name': inTagName,
  tag: inTag,
  'attribute-name': inAttributeName,
  'before-value': beforeValue,
  value: inValue,
}

/** Reads one character. `rest` begins with it. */
function step(context: HtmlContext, char: string, rest: string): void {
  readers[context.state](context, char, rest)
}

function inText(context: HtmlContext, char: string, rest: string): void {
  if (char !== '<') return
  const raw = isRaw(context)
  const closes = rest.slice(1, 2 + context.tag.length).toLowerCase() === `/${context.tag}`
  if (!raw && startsComment(rest)) {
    context.state = 'comment'
    context.comment = ''
    return
  }
  if (raw ? !closes : !/^<\/?[a-z]/i.test(rest)) return
  // The slash of an end tag stays in its name, so that </script> does not open a script.
  context.tag = ''
  context.state = 'tag-name'
}

/** Browsers also accept <!--> and --!> as ends. */
function inComment(context: HtmlContext, char: string): void {
  if (char === '>' && /--!?$/.test(context.comment)) context.state = 'text'
  context.comment = (context.comment + char).slice(-3)
}

function inTagName(context: HtmlContext, char: string): void {
  if (/[\s/>]/.test(char)) context.state = 'tag'
  else context.tag += char.toLowerCase()
  if (char === '>') context.state = 'text'
}

function inTag(context: HtmlContext, char: string): void {
  if (char === '>') context.state = 'text'
  if (/[\s/'"=>]/.test(char)) return
  context.attribute = char.toLowerCase()
  context.state = 'attribute-name'
}

function inAttributeName(context: HtmlContext, char: string, rest: string): void {
  if (char === '>') context.state = 'text'
  else if (char === '=') context.state = 'before-value'
  else if (/\s/.test(char)) context.state = /^\s*=/.test(rest) ? 'attribute-name' : 'tag'
  else context.attribute += char.toLowerCase()
}

function beforeValue(context: HtmlContext, char: string): void {
  if (char === '>') context.state = 'text'
  else if (!/\s/.test(char)) openValue(context, char)
}

function openValue(context: HtmlContext, char: string): void {
  context.state = 'value'
  context.quote = char === '"' || char === "'" ? char : ''
  context.link = 'nothing'
  if (!context.quote) readLink(context, char)
}

function inValue(context: HtmlContext, char: string): void {
  const isOver = context.quote ? char === context.quote : /[\s>]/.test(char)
  if (isOver) context.state = char === '>' ? 'text' : 'tag'
  else readLink(context, char)
}

function readLink(context: HtmlContext, char: string): void {
  if (/[?#&=]/.test(char)) context.link = 'query'
  // Browsers skip blanks and control characters in front of a link.
  else if (char > ' ' && context.link !== 'query') context.link = 'path'
}

function inAttribute(context: HtmlContext): Position {
  const { attribute, quote, link } = context
  if (/^(?:on.*|style|srcdoc)$/.test(attribute)) return 'forbidden'
  if (!urlAttributes.has(attribute) || link === 'path') return quote ? 'attribute' : 'unquoted'
  if (link === 'query') return 'query'
  context.link = 'values'
  if (link === 'nothing') return quote ? 'url' : 'unquoted'
  return quote ? 'url-rest' : 'forbidden'
}

/** Comments that Outlook reads as HTML (`<!--[if mso]>`) are read as HTML here, too. */
function startsComment(rest: string): boolean {
  return rest.startsWith('<!--') && !/^<!--\[if/i.test(rest)
}
