/** Names of the environment that somebody may have meant for one of ours. */
import { distance } from 'fastest-levenshtein'

import { type Environment, knownNames } from './names.ts'

/** So few that two of them are hardly ever different words. */
const mostEdits = 2
/** Shorter ones are near to too much that is somebody else's. */
const shortest = 8

/** The name that is set in place of `variable`: without its prefix, or with a slip. */
export function slipFor(variable: string, env: Environment): string | undefined {
  return Object.keys(env).find((name) => {
    if (knownNames.has(name) || !env[name]?.trim()) return false
    return variable === `AUTH_${name}` || isNear(name, variable)
  })
}

function isNear(name: string, variable: string): boolean {
  if (variable.length < shortest || Math.abs(variable.length - name.length) > mostEdits) {
    return false
  }
  return distance(name, variable) <= mostEdits
}
