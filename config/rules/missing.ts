import type { ConfigIssue, DisabledFeature } from '../core/config-error.ts'
import type { Config, ConfigVariableName } from '../groups/index.ts'

/** An issue for each of these variables without a value, with the reason it is needed. */
export function missing(
  config: Config,
  names: readonly ConfigVariableName[],
  because: string,
  feature?: DisabledFeature,
): ConfigIssue[] {
  return names
    .filter((name) => isEmpty(config[name]))
    .map((variable) => missingVariable(variable, because, feature))
}

export function missingVariable(
  variable: string,
  because: string,
  feature?: DisabledFeature,
): ConfigIssue {
  const hint = `it is needed because ${because}`
  return { variable, problem: 'is not set', hint, ...(feature && { feature }) }
}

export function isEmpty(value: unknown): boolean {
  return value === undefined || (Array.isArray(value) && value.length === 0)
}
