/** Variables in a custom template that its type of email does not have. */
import { nearestName } from '../schemas/values/nearest-name.ts'
import { localNames } from './built-in/local-variables.ts'
import type { RootName, Template } from './go-template/template.ts'
import { type EmailKind, emailKindDefinitions, mailKindNames } from './kinds/index.ts'

const ofAnyKind = new Set(mailKindNames.flatMap((kind) => [...listVariables(kind)]))

/**
 * Returns a sentence for each unknown name. A tested variable of another type of email is allowed: a template may serve
 * several types.
 */
export function unknownVariables(kind: EmailKind, { names }: Template): string[] {
  const known = listVariables(kind)
  const tested = new Set(names.flatMap(({ name, isTested }) => (isTested ? [name] : [])))
  const isForOthers = (name: string) => ofAnyKind.has(name) && tested.has(name)
  const first = new Map<string, RootName>()
  for (const each of names) {
    if (!known.has(each.name) && !isForOthers(each.name) && !first.has(each.name)) {
      first.set(each.name, each)
    }
  }
  return [...first.values()].map(({ name, line }) => {
    const nearest = nearestName(name, known)
    const hint = nearest ? `; did you mean .${nearest}?` : '.'
    return `line ${line}: this email has no .${name}, so it is always empty${hint}`
  })
}

function listVariables(kind: EmailKind): Set<string> {
  const own = Object.keys(emailKindDefinitions[kind].variables.properties)
  return new Set([...own, ...localNames(own)])
}
