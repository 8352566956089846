/**
 * `node scripts/compare-gotrue.ts FOLDER`: compares routes, error codes and variables with a checked-out GoTrue. Prints
 * what it has, this server has not, and scripts/gotrue/decisions.ts does not decide, and decisions that are outdated.
 * Exit code 1 when there is any.
 */
import { openapiText } from '../cli/openapi.ts'
import { knownNames } from '../config/names.ts'
import { whyWithoutEffect } from '../config/notices.ts'
import { errorCodes } from '../schemas/values/error-codes.ts'
import { listGotrueCodes } from './gotrue/codes.ts'
import { decided } from './gotrue/decisions.ts'
import { listGotrueRoutes, toName } from './gotrue/routes.ts'
import { listGotrueVariables } from './gotrue/variables.ts'

const [folder] = process.argv.slice(2)
if (folder === undefined) throw new Error('usage: node scripts/compare-gotrue.ts FOLDER')

const routes = await listOurRoutes()
const comparisons = {
  routes: { theirs: listGotrueRoutes(folder), has: (name: string) => routes.has(name) },
  codes: {
    theirs: listGotrueCodes(folder),
    has: (name: string) => errorCodes.some((code) => code === name),
  },
  variables: {
    theirs: listGotrueVariables(folder),
    has: (name: string) => knownNames.has(name) || whyWithoutEffect(name) !== undefined,
  },
} as const

let open = 0
for (const what of ['routes', 'codes', 'variables'] as const) {
  const { theirs, has } = comparisons[what]
  const missing = theirs.filter((name) => !has(name))
  const undecided = missing.filter((name) => !(name in decided[what]))
  const outdated = Object.keys(decided[what]).filter((name) => !missing.includes(name))
  console.log(
    `${what}: ${theirs.length} of GoTrue, ${theirs.length - missing.length} here, ${missing.length - undecided.length} decided differently`,
  )
  for (const name of undecided) console.log(`  not decided: ${name}`)
  for (const name of outdated) console.log(`  outdated decision: ${name}`)
  open += undecided.length + outdated.length
}
process.exitCode = open === 0 ? 0 : 1

async function listOurRoutes(): Promise<ReadonlySet<string>> {
  const { paths }: { paths: Record<string, object> } = JSON.parse(await openapiText())
  const names = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => toName(method, path)),
  )
  return new Set(names)
}
