import type { Config, VariableName } from '../config.ts'
import type { Mistake } from '../mistake.ts'

/** A mistake for each of these variables that has no value, with the reason why it needs one. */
export function missing(
  config: Config,
  names: readonly VariableName[],
  because: string,
): Mistake[] {
  return names
    .filter((name) => isEmpty(config[name]))
    .map((variable) => missingVariable(variable, because))
}

export function missingVariable(variable: string, because: string): Mistake {
  return { variable, problem: 'is not set', remedy: `it is needed because ${because}` }
}

export function isEmpty(value: unknown): boolean {
  return value === undefined || (Array.isArray(value) && value.length === 0)
}
