/**
 * node deploy/strip-types.ts FOLDER: takes the types out of every TypeScript file below a folder, for the container image.
 * What is left is JavaScript under the same name, each word on the line and in the column where it was;
 * without-types.mjs has Node take it for that.
 */
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'

/** Throws for a checkout, whose files are somebody's work. */
export function stripTypes(folder: string): void {
  if (existsSync(join(folder, '.git'))) {
    throw new Error(`${folder} is a checkout, and no copy of one`)
  }
  for (const name of globSync('**/*.ts', { cwd: folder, exclude: ['node_modules/**'] })) {
    const file = join(folder, name)
    writeFileSync(file, stripTypeScriptTypes(readFileSync(file, 'utf8')))
  }
}

if (import.meta.main) stripTypes(process.argv[2] ?? '.')
