/** Finds misspelt names of our variables in the environment. */
import { nearestName } from '../schemas/values/nearest-name.ts'
import { type Environment, knownNames } from './names.ts'

/** Two different words rarely have such a small distance. */
const maxEdits = 2
/** Shorter names resemble too many unrelated ones. */
const shortest = 8

/** The name that was probably meant to be `variable`: without its prefix, or misspelt. */
export function typoSuggestion(variable: string, env: Environment): string | undefined {
  return Object.keys(env).find((name) => {
    if (knownNames.has(name) || !env[name]?.trim()) return false
    if (variable === `AUTH_${name}`) return true
    return variable.length >= shortest && nearestName(name, [variable], maxEdits) !== undefined
  })
}
