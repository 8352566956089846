import type { Config, VariableName } from '../config.ts'
import type { Feature, Mistake } from '../mistake.ts'

/** A mistake for each of these variables that has no value, with the reason why it needs one. */
export function missing(
  config: Config,
  names: readonly VariableName[],
  because: string,
  feature?: Feature,
): Mistake[] {
  return names
    .filter((name) => isEmpty(config[name]))
    .map((variable) => missingVariable(variable, because, feature))
}

export function missingVariable(variable: string, because: string, feature?: Feature): Mistake {
  const remedy = `it is needed because ${because}`
  return { variable, problem: 'is not set', remedy, ...(feature && { feature }) }
}

export function isEmpty(value: unknown): boolean {
  return value === undefined || (Array.isArray(value) && value.length === 0)
}
