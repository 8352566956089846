import type { Expression } from './expression.ts'
import { functions } from './functions.ts'
import { TemplateError } from './template-error.ts'
import { get } from './values.ts'

/** What `.` is, and the variables declared so far; `$` is one of them. */
export interface Scope {
  dot: unknown
  names: ReadonlyMap<string, Variable>
}

/** Blocks inside the one that declares it may give it another value. */
export interface Variable {
  value: unknown
}

/** The value of an expression in a scope. It never throws: what is missing is nil. */
export type Evaluate = (scope: Scope) => unknown

/** Throws a TemplateError for a variable that is not among the declared ones. */
export function evaluator(
  expression: Expression,
  declared: ReadonlySet<string>,
  line: number,
): Evaluate {
  switch (expression.kind) {
    case 'literal':
      return () => expression.value
    case 'variable': {
      const { name } = expression
      if (name === '.') return ({ dot }) => dot
      if (!declared.has(name)) throw new TemplateError(`${name} is not declared`, line)
      return ({ names }) => names.get(name)?.value
    }
    case 'get': {
      const of = evaluator(expression.of, declared, line)
      return (scope) => get(of(scope), expression.field)
    }
    case 'call': {
      const { call }: { call(...values: unknown[]): unknown } = functions[expression.name]
      const args = expression.args.map((arg) => evaluator(arg, declared, line))
      return (scope) => call(...args.map((arg) => arg(scope)))
    }
  }
}
