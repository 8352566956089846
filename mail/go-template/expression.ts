/** Parses what stands between {{ and }}: its tokens, and expressions of paths, literals and function calls. */
import { type FunctionName, functions } from './functions.ts'
import { TemplateError } from './template-error.ts'

export type Expression =
  | { kind: 'literal'; value: string | number | boolean | null }
  | { kind: 'variable'; name: string }
  | { kind: 'get'; of: Expression; field: string }
  | { kind: 'call'; name: FunctionName; args: Expression[] }

const maxDepth = 50
const constants = new Map<string, boolean | null>([
  ['true', true],
  ['false', false],
  ['nil', null],
])

/** Parses a pipeline. Throws a TemplateError for missing, unknown or excess tokens. */
export function parseExpression(tokens: Token[], line: number): Expression {
  const parser = new Parser(tokens, line)
  const expression = parser.pipeline(0)
  parser.end()
  return expression
}

class Parser {
  readonly #tokens: Token[]
  readonly #line: number
  #next = 0

  constructor(tokens: Token[], line: number) {
    this.#tokens = tokens
    this.#line = line
  }

  pipeline(depth: number): Expression {
    if (depth > maxDepth) throw this.#error('parentheses are nested too deeply')
    let value = this.#command(depth, undefined)
    while (this.#isMark('|')) {
      this.#next++
      value = this.#command(depth, value)
    }
    return value
  }

  /** Parses one command of a pipeline. The value of the previous command becomes its last argument. */
  #command(depth: number, piped: Expression | undefined): Expression {
    const first = this.#token
    if (first?.type === 'name' && !constants.has(first.text)) {
      this.#next++
      const args: Expression[] = []
      while (this.#startsOperand()) args.push(this.#operand(depth))
      if (piped) args.push(piped)
      return this.#call(first.text, args)
    }
    if (piped) throw this.#error('a value after | must go to a function')
    return this.#operand(depth)
  }

  #call(name: string, args: Expression[]): Expression {
    if (!isFunction(name)) throw this.#error(`function "${name}" is not supported`)
    const [min, max] = functions[name].takes
    if (args.length < min || args.length > max) {
      throw this.#error(`"${name}" does not take ${args.length} argument(s)`)
    }
    return { kind: 'call', name, args }
  }

  #startsOperand(): boolean {
    const token = this.#token
    if (!token) return false
    return token.type !== 'mark' || token.text === '(' || token.text === '.'
  }

  #operand(depth: number): Expression {
    let value = this.#primary(depth)
    for (let token = this.#token; token?.type === 'field' && !token.spaced; token = this.#token) {
      value = { kind: 'get', of: value, field: token.text.slice(1) }
      this.#next++
    }
    return value
  }

  #primary(depth: number): Expression {
    const token = this.#tokens[this.#next++]
    switch (token?.type) {
      case 'field':
        return { kind: 'get', of: { kind: 'variable', name: '.' }, field: token.text.slice(1) }
      case 'variable':
        return { kind: 'variable', name: token.text }
      case 'number':
        return { kind: 'literal', value: Number(token.text) }
      case 'string':
        return { kind: 'literal', value: this.#unquote(token.text) }
      case 'name':
        return this.#constant(token.text)
    }
    if (token?.text === '.') return { kind: 'variable', name: '.' }
    if (token?.text === '(') return this.#group(depth)
    throw this.#error(token ? `"${token.text}" is not expected here` : 'a value is missing')
  }

  #constant(name: string): Expression {
    const value = constants.get(name)
    if (value === undefined) throw this.#error(`"${name}" needs parentheses here, or is not known`)
    return { kind: 'literal', value }
  }

  #group(depth: number): Expression {
    const value = this.pipeline(depth + 1)
    if (!this.#isMark(')')) throw this.#error('a parenthesis is not closed')
    this.#next++
    return value
  }

  #unquote(text: string): string {
    if (text.startsWith('`')) return text.slice(1, -1)
    try {
      return JSON.parse(text)
    } catch {
      throw this.#error(`the string ${text} has an escape that is not understood`)
    }
  }

  /** Throws when tokens are left. */
  end(): void {
    if (this.#token) throw this.#error(`"${this.#token.text}" is not expected here`)
  }

  get #token(): Token | undefined {
    return this.#tokens[this.#next]
  }

  #isMark(text: string): boolean {
    return this.#token?.type === 'mark' && this.#token.text === text
  }

  #error(problem: string): TemplateError {
    return new TemplateError(problem, this.#line)
  }
}

function isFunction(name: string): name is FunctionName {
  return Object.hasOwn(functions, name)
}

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
