/**
 * Tracks the HTML context through the literal text of a template. Escaping keeps a value inside its context; in a link
 * the context also restricts the value: it must not start a `javascript:` URL or add a query parameter.
 */
import {
  type HtmlContext,
  inAttribute,
  isRaw,
  linkParts,
  openValue,
  type Position,
  step,
} from './html-steps.ts'

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
