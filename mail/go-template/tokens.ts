/** The tokens of an action. */
import { TemplateError } from './template-error.ts'

const token =
  /(?<space>\s+)|(?<field>\.[\p{L}_][\p{L}\p{N}_]*)|(?<variable>\$[\p{L}\p{N}_]*)|(?<number>[+-]?\d+(?:\.\d+)?(?![\p{L}\p{N}_.]))|(?<string>"(?:\\.|[^"\\\n])*"|`[^`]*`)|(?<name>[\p{L}_][\p{L}\p{N}_]*)|(?<mark>:=|[=.,|()])/uy

export interface Token {
  type: 'field' | 'variable' | 'number' | 'string' | 'name' | 'mark'
  text: string
  /** Preceded by a blank: `.A .B` are two operands and `.A.B` is one. */
  spaced: boolean
}

/** Throws a TemplateError for an unexpected character. */
export function tokenize(body: string, line: number): Token[] {
  const tokens: Token[] = []
  let spaced = true
  token.lastIndex = 0
  while (token.lastIndex < body.length) {
    const at = token.lastIndex
    const groups = token.exec(body)?.groups
    if (!groups) throw new TemplateError(`"${body.slice(at, at + 10)}" is not understood`, line)
    const found = Object.entries(groups).find(([, text]) => text !== undefined)
    const [type, text] = found as [Token['type'] | 'space', string]
    if (type !== 'space') tokens.push({ type, text, spaced })
    spaced = type === 'space'
  }
  return tokens
}
