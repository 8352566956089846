/**
 * `node --import=./scripts/typescript-6.ts scripts/console-types.ts`: writes the types of the endpoints that the
 * console calls, from docs/openapi.json; `--check` only compares. `npm run openapi` runs it.
 */
import { readFileSync, writeFileSync } from 'node:fs'

import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript'

const source = new URL('../docs/openapi.json', import.meta.url)
const target = new URL('../console/core/api-types.d.ts', import.meta.url)

const called = /^\/(admin\/.*|invite|user|reauthenticate)$/
/** Errors, which console/core/api.ts reads, and names that would only be referred to. */
const omitted = /^([45]XX|operationId)$/

const document: OpenAPI3 = JSON.parse(readFileSync(source, 'utf8'), (key, value) =>
  omitted.test(key) ? undefined : value,
)
const { openapi, info, components = {}, paths = {} } = document
const known = Object.entries(paths).filter(([path]) => called.test(path))
const types = await openapiTS({ openapi, info, components, paths: Object.fromEntries(known) })
const formatOptions = { removeComments: true }
const text = `/** Made by \`npm run openapi\`. */\n${astToString(types, { formatOptions })}`

if (!process.argv.includes('--check')) {
  writeFileSync(target, text)
} else if (readFileSync(target, 'utf8') !== text) {
  console.error('console/core/api-types.d.ts is outdated: run npm run openapi')
  process.exitCode = 1
}
