/** The expressions inside an action: paths, literals and calls that name their function first. */
import { type FunctionName, functions } from './functions.ts'
import { TemplateError } from './template-error.ts'
import type { Token } from './tokens.ts'

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

/** Parses a whole pipeline. Throws a TemplateError when something is missing, unknown or left over. */
export function parseExpression(tokens: Token[], line: number): Expression {
  const parser = createParser(tokens, line)
  const expression = parser.pipeline(0)
  parser.end()
  return expression
}

function createParser(tokens: Token[], line: number) {
  let next = 0
  const fail = (problem: string) => new TemplateError(problem, line)
  const isMark = (text: string) => tokens[next]?.type === 'mark' && tokens[next]?.text === text

  function pipeline(depth: number): Expression {
    if (depth > maxDepth) throw fail('parentheses are nested too deeply')
    let value = command(depth, undefined)
    while (isMark('|')) {
      next++
      value = command(depth, value)
    }
    return value
  }

  /** One step of a pipeline; the value of the step before becomes the last argument. */
  function command(depth: number, piped: Expression | undefined): Expression {
    const first = tokens[next]
    if (first?.type === 'name' && !constants.has(first.text)) {
      next++
      const args: Expression[] = []
      while (startsOperand()) args.push(operand(depth))
      if (piped) args.push(piped)
      return call(first.text, args)
    }
    if (piped) throw fail('a value after | must go to a function')
    return operand(depth)
  }

  function call(name: string, args: Expression[]): Expression {
    if (!isFunction(name)) throw fail(`function "${name}" is not supported`)
    const [least, most] = functions[name].takes
    if (args.length < least || args.length > most) {
      throw fail(`"${name}" does not take ${args.length} argument(s)`)
    }
    return { kind: 'call', name, args }
  }

  function startsOperand(): boolean {
    const token = tokens[next]
    if (!token) return false
    return token.type !== 'mark' || token.text === '(' || token.text === '.'
  }

  function operand(depth: number): Expression {
    let value = primary(depth)
    for (let token = tokens[next]; token?.type === 'field' && !token.spaced; token = tokens[next]) {
      value = { kind: 'get', of: value, field: token.text.slice(1) }
      next++
    }
    return value
  }

  function primary(depth: number): Expression {
    const token = tokens[next++]
    switch (token?.type) {
      case 'field':
        return { kind: 'get', of: { kind: 'variable', name: '.' }, field: token.text.slice(1) }
      case 'variable':
        return { kind: 'variable', name: token.text }
      case 'number':
        return { kind: 'literal', value: Number(token.text) }
      case 'string':
        return { kind: 'literal', value: unquote(token.text) }
      case 'name':
        return constant(token.text)
    }
    if (token?.text === '.') return { kind: 'variable', name: '.' }
    if (token?.text === '(') return group(depth)
    throw fail(token ? `"${token.text}" is not expected here` : 'a value is missing')
  }

  function constant(name: string): Expression {
    const value = constants.get(name)
    if (value === undefined) throw fail(`"${name}" needs parentheses here, or is not known`)
    return { kind: 'literal', value }
  }

  function group(depth: number): Expression {
    const value = pipeline(depth + 1)
    if (!isMark(')')) throw fail('a parenthesis is not closed')
    next++
    return value
  }

  function unquote(text: string): string {
    if (text.startsWith('`')) return text.slice(1, -1)
    try {
      return JSON.parse(text)
    } catch {
      throw fail(`the string ${text} has an escape that is not understood`)
    }
  }

  function end() {
    if (next < tokens.length) throw fail(`"${tokens[next]?.text}" is not expected here`)
  }

  return { pipeline, end }
}

function isFunction(name: string): name is FunctionName {
  return Object.hasOwn(functions, name)
}
