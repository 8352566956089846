/**
 * Follows the literal HTML of a template, to know where each value will stand.
 * Escaping alone keeps a value inside its place; in a link the place also decides what it may mean:
 * `javascript:` must not start one, and `&` must not add a parameter to one.
 */

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

/** How much of a link stands already. Where branches meet, the later one of these counts: it allows less. */
const linkParts = ['path', 'nothing', 'values', 'query'] as const
type LinkPart = (typeof linkParts)[number]

/** A place in the HTML, as far as it has been read. */
export interface Spot {
  state: State
  tag: string
  attribute: string
  quote: string
  link: LinkPart
  tail: string
  /** The last characters of a comment, which say whether a `>` ends it. */
  comment: string
}

export interface HtmlCursor {
  read(literal: string): void
  /** The position of a value put here; also moves past it. */
  value(): Position
  mark(): Spot
  reset(spot: Spot): void
  /** What follows may be repeated, and so come after values of its own. */
  enterLoop(): void
  /** What follows comes after either place. False when they are not alike, so that nothing can follow both. */
  meet(other: Spot): boolean
}

export function createHtmlCursor(): HtmlCursor {
  let spot: Spot = {
    state: 'text',
    tag: '',
    attribute: '',
    quote: '',
    link: 'nothing',
    tail: '',
    comment: '',
  }

  function closeTag() {
    spot.state = 'text'
  }

  function step(char: string, rest: string) {
    switch (spot.state) {
      case 'text':
        return inText(char, rest)
      case 'comment':
        return inComment(char)
      case 'tag-name':
        if (/[\s/>]/.test(char)) spot.state = 'tag'
        else spot.tag += char.toLowerCase()
        if (char === '>') closeTag()
        return
      case 'tag':
        if (char === '>') return closeTag()
        if (/[\s/'"=]/.test(char)) return
        spot.attribute = char.toLowerCase()
        spot.state = 'attribute-name'
        return
      case 'attribute-name':
        if (char === '>') return closeTag()
        if (char === '=') spot.state = 'before-value'
        else if (/\s/.test(char)) spot.state = /^\s*=/.test(rest) ? 'attribute-name' : 'tag'
        else spot.attribute += char.toLowerCase()
        return
      case 'before-value':
        if (char === '>') return closeTag()
        if (/\s/.test(char)) return
        return openValue(char)
      case 'value':
        return inValue(char)
    }
  }

  function inText(char: string, rest: string) {
    if (char !== '<') return
    // Inside <script> and <style> only their own end tag counts.
    const raw = spot.tag === 'script' || spot.tag === 'style'
    const closes = rest.slice(1, 2 + spot.tag.length).toLowerCase() === `/${spot.tag}`
    if (!raw && startsComment(rest)) return openComment()
    if (raw ? !closes : !/^<\/?[a-z]/i.test(rest)) return
    spot.tag = ''
    spot.state = 'tag-name'
    // The slash of an end tag stays in its name, so that </script> does not open a script.
  }

  function openComment() {
    spot.state = 'comment'
    spot.comment = ''
  }

  // Browsers take <!--> and --!> for ends, too.
  function inComment(char: string) {
    if (char === '>' && /--!?$/.test(spot.comment)) spot.state = 'text'
    spot.comment = (spot.comment + char).slice(-3)
  }

  function openValue(char: string) {
    spot.state = 'value'
    spot.quote = char === '"' || char === "'" ? char : ''
    spot.link = 'nothing'
    if (!spot.quote) goOn(char)
  }

  function inValue(char: string) {
    if (spot.quote ? char !== spot.quote : !/[\s>]/.test(char)) return goOn(char)
    spot.state = 'tag'
    if (char === '>') closeTag()
  }

  function goOn(char: string) {
    if (/[?#&=]/.test(char)) spot.link = 'query'
    // Browsers skip blanks and control characters in front of a link.
    else if (char > ' ' && spot.link !== 'query') spot.link = 'path'
  }

  function inAttribute(): Position {
    const { attribute, quote, link } = spot
    if (/^(?:on.*|style|srcdoc)$/.test(attribute)) return 'forbidden'
    if (!urlAttributes.has(attribute) || link === 'path') return quote ? 'attribute' : 'unquoted'
    if (link === 'query') return 'query'
    spot.link = 'values'
    if (link === 'nothing') return quote ? 'url' : 'unquoted'
    return quote ? 'url-rest' : 'forbidden'
  }

  return {
    read(literal) {
      for (let i = 0; i < literal.length; i++) step(literal.charAt(i), literal.slice(i, i + 12))
      spot.tail = literal.slice(-2)
    },
    value() {
      if (spot.state === 'before-value') openValue('')
      if (spot.state === 'value') return inAttribute()
      if (spot.state === 'comment') return 'comment'
      const raw = spot.tag === 'script' || spot.tag === 'style'
      return spot.state === 'text' && !raw && !/<\/?$/.test(spot.tail) ? 'text' : 'forbidden'
    },
    mark: () => ({ ...spot }),
    reset(other) {
      spot = { ...other }
    },
    enterLoop() {
      if (spot.link === 'nothing') spot.link = 'values'
    },
    meet(other) {
      if (placeOf(spot) !== placeOf(other)) return false
      const rank = Math.max(linkParts.indexOf(spot.link), linkParts.indexOf(other.link))
      spot.link = linkParts[rank] ?? spot.link
      if (other.tail.endsWith('<') || other.tail.endsWith('</')) spot.tail = other.tail
      return true
    },
  }
}

/** Equal for spots after which the same may follow, but for the part of a link. */
function placeOf({ state, tag, attribute, quote }: Spot): string {
  const raw = tag === 'script' || tag === 'style' ? tag : ''
  if (state === 'comment') return state
  if (state === 'text' || state === 'tag') return `${state} ${raw}`
  if (state === 'tag-name') return `${state} ${tag}`
  return `${state} ${raw} ${attribute} ${state === 'value' ? quote : ''}`
}

/** Those that Outlook reads as HTML (`<!--[if mso]>`) are read as HTML here, too. */
function startsComment(rest: string): boolean {
  return rest.startsWith('<!--') && !/^<!--\[if/i.test(rest)
}
