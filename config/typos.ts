/** Finds misspelt names of our variables in the environment. */
import { distance } from 'fastest-levenshtein'

import { type Environment, knownNames } from './names.ts'

/** Two different words rarely have such a small distance. */
const maxEdits = 2
/** Shorter names resemble too many unrelated ones. */
const shortest = 8

/** The name that was probably meant to be `variable`: without its prefix, or misspelt. */
export function typoSuggestion(variable: string, env: Environment): string | undefined {
  return Object.keys(env).find((name) => {
    if (knownNames.has(name) || !env[name]?.trim()) return false
    return variable === `AUTH_${name}` || isNear(name, variable)
  })
}

function isNear(name: string, variable: string): boolean {
  if (variable.length < shortest || Math.abs(variable.length - name.length) > maxEdits) {
    return false
  }
  return distance(name, variable) <= maxEdits
}
