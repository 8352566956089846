/** Splits a template into literal text and `{{ actions }}`. */
import { TemplateError } from './template-error.ts'

type Piece =
  | { kind: 'text'; text: string; line: number }
  | { kind: 'action'; body: string; line: number }

// Quoted strings may contain closing braces.
const actionEnd = /(?:"(?:\\.|[^"\\\n])*"|`[^`]*`|(?!\}\})[^"`])*\}\}/y
const commentEnd = /\/\*[\s\S]*?\*\/([ \t\r\n]+-)?\}\}/y
const trimLeft = /^-(?=[ \t\r\n])/
const trimRight = /[ \t\r\n]-$/

/** Returns the pieces in order, with trim markers applied and without comments. Throws for an unclosed action. */
export function splitTemplate(source: string): Piece[] {
  const pieces: Piece[] = []
  const lineAt = lineCounter(source)
  let position = 0
  let trimNext = false
  while (position < source.length) {
    const open = source.indexOf('{{', position)
    const action = open === -1 ? undefined : readAction(source, open, lineAt(open))
    let text = source.slice(position, action ? open : undefined)
    if (trimNext) text = text.replace(/^[ \t\r\n]+/, '')
    if (action?.trimBefore) text = trimEnd(text)
    if (text) pieces.push({ kind: 'text', text, line: lineAt(position) })
    if (!action) break
    if (action.body !== undefined) {
      pieces.push({ kind: 'action', body: action.body, line: lineAt(open) })
    }
    trimNext = action.trimAfter
    position = action.end
  }
  return pieces
}

interface Action {
  /** Absent for a comment. */
  body?: string
  trimBefore: boolean
  trimAfter: boolean
  end: number
}

function readAction(source: string, open: number, line: number): Action {
  const trimBefore = trimLeft.test(source.slice(open + 2, open + 4))
  const start = open + (trimBefore ? 3 : 2)
  const comment = /^[ \t\r\n]*\/\*/.exec(source.slice(start, start + 64))
  if (comment) {
    commentEnd.lastIndex = start + comment[0].length - 2
    const match = commentEnd.exec(source)
    if (!match) throw new TemplateError('a comment is not closed with */}}', line)
    return { trimBefore, trimAfter: match[1] !== undefined, end: commentEnd.lastIndex }
  }
  actionEnd.lastIndex = start
  const match = actionEnd.exec(source)
  if (!match) throw new TemplateError('{{ is not closed with }}', line)
  const inner = match[0].slice(0, -2)
  const trimAfter = trimRight.test(inner)
  const body = (trimAfter ? inner.slice(0, -1) : inner).trim()
  return { body, trimBefore, trimAfter, end: actionEnd.lastIndex }
}

// A regular expression anchored at the end would take quadratic time on long runs of blanks.
function trimEnd(text: string): string {
  let end = text.length
  while (end > 0 && ' \t\r\n'.includes(text.charAt(end - 1))) end--
  return text.slice(0, end)
}

/** Positions must be requested in ascending order, which keeps the count linear. */
function lineCounter(source: string): (position: number) => number {
  let seen = 0
  let line = 1
  return (position) => {
    for (; seen < position; seen++) if (source.charCodeAt(seen) === 10) line++
    return line
  }
}
