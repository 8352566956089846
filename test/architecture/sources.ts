/** Every source file with what it imports. */
import { globSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'

export interface Import {
  /** As written. */
  specifier: string
  /** From the root of the repository, for files of ours. */
  file: string | undefined
  typeOnly: boolean
}

export interface Source {
  /** From the root of the repository. */
  path: string
  text: string
  imports: Import[]
}

const root = join(import.meta.dirname, '../..')

const statement =
  /(?:^|\n)(?:import|export)\s+(type\s+)?(?:[\w*{}\s,$]*?\sfrom\s+)?'([^']+)'|\bimport\(\s*'([^']+)'/g

export function sources(patterns: readonly string[]): Source[] {
  return globSync([...patterns], { cwd: root, exclude: ['node_modules/**', '.data/**'] })
    .toSorted()
    .map(readSource)
}

function readSource(path: string): Source {
  const text = readFileSync(join(root, path), 'utf8')
  const imports = [...text.matchAll(statement)].map(([, type, ofStatement, ofCall]) => {
    const specifier = ofStatement ?? ofCall ?? ''
    return { specifier, file: fileOf(path, specifier), typeOnly: type !== undefined }
  })
  return { path, text, imports }
}

function fileOf(path: string, specifier: string): string | undefined {
  if (!specifier.startsWith('.')) return undefined
  return relative(root, join(root, path, '..', specifier))
}
