/**
 * node deploy/strip-types.ts FOLDER: removes the types from every TypeScript file below a folder, for the container
 * image. The result is JavaScript under the same name, with unchanged lines and columns; without-types.mjs makes Node
 * accept it.
 */
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'

/** Throws for a git checkout, whose files must not be overwritten. */
export function stripTypes(folder: string): void {
  if (existsSync(join(folder, '.git'))) {
    throw new Error(`${folder} is a checkout, not a copy of one`)
  }
  for (const name of globSync('**/*.ts', { cwd: folder, exclude: ['node_modules/**'] })) {
    const file = join(folder, name)
    writeFileSync(file, stripTypeScriptTypes(readFileSync(file, 'utf8')))
  }
}

if (import.meta.main) stripTypes(process.argv[2] ?? '.')
