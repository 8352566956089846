/**
 * `node --import ./scripts/typescript-6.ts`: dependency-cruiser and openapi-typescript use the API of TypeScript 6, which
 * TypeScript 7 no longer has. Remove it with the package when they need neither.
 */
import { createRequire, registerHooks } from 'node:module'

const { version }: { version: string } = createRequire(import.meta.url)('typescript-6/package.json')
// Without the API dependency-cruiser finds few imports, and few faults.
if (!version.startsWith('6.')) throw new Error(`typescript-6 is ${version}`)

registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier.replace(/^typescript(?=\/|$)/, 'typescript-6'), context),
})
