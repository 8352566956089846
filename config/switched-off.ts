/** Invalid variables of a disabled feature do not prevent the start. */
import { formatIssue } from './core/config-error.ts'
import { expectation } from './core/expectation.ts'
import { parsers } from './core/parsers.ts'
import type { FoundNames } from './found-names.ts'
import { type ConfigVariableName, variableEntries, variables } from './groups/index.ts'
import type { Found } from './names.ts'
import { accepts } from './read-environment.ts'

const switches = {
  AUTH_SAML_: 'AUTH_SAML_ENABLED',
  AUTH_OAUTH_SERVER_: 'AUTH_OAUTH_SERVER_ENABLED',
} as const satisfies Record<string, ConfigVariableName>

type Switch = (typeof switches)[keyof typeof switches]

/** Removes invalid values of disabled features, with a warning for each. */
export function withoutSwitchedOff(found: FoundNames, warn: (notice: string) => void): FoundNames {
  const remaining = new Map<string, Found>(found)
  for (const [variable, schema] of variableEntries) {
    const at = found.get(variable)
    const flag = findSwitch(variable)
    if (!at || flag === undefined || isOn(flag, found) || accepts(schema, at.text)) continue
    const problem = schema['x-secret'] ? 'has an invalid value' : `is "${at.text}"`
    const hint = `it must be ${expectation(schema)}`
    warn(
      `${formatIssue({ variable: at.name, problem, hint })}: it is ignored because ${flag} is not true.`,
    )
    remaining.delete(variable)
  }
  return remaining
}

function findSwitch(variable: string): Switch | undefined {
  const [, flag] = Object.entries(switches).find(([prefix]) => variable.startsWith(prefix)) ?? []
  return flag === variable ? undefined : flag
}

/** An invalid switch is reported by itself. */
function isOn(flag: Switch, found: FoundNames): boolean {
  const text = found.get(flag)?.text
  return text !== undefined && parsers.bool?.(text, variables[flag]) !== false
}
