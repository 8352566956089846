import type { Expression } from './expression.ts'
import { functions } from './functions.ts'
import { TemplateError } from './template-error.ts'
import { ownProperty } from './values.ts'

/** The value of `.` and the declared variables, among them `$`. */
export interface Scope {
  dot: unknown
  names: ReadonlyMap<string, TemplateVariable>
}

/** Nested blocks may assign another value. */
interface TemplateVariable {
  value: unknown
}

/** Evaluates an expression in a scope. Never throws: a missing value is nil. */
export type Evaluate = (scope: Scope) => unknown

/** Throws a TemplateError for an undeclared variable. */
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
      return (scope) => ownProperty(of(scope), expression.field)
    }
    case 'call': {
      const { call }: { call(...values: unknown[]): unknown } = functions[expression.name]
      const args = expression.args.map((arg) => evaluator(arg, declared, line))
      return (scope) => call(...args.map((arg) => arg(scope)))
    }
  }
}
