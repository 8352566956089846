/** Every source file with what it imports. */
import { globSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'

export interface Import {
  /** As written. */
  specifier: string
  /** From the root of the repository, for our files. */
  file: string | undefined
  typeOnly: boolean
  /** What is imported by name, types left out. */
  names: string[]
}

export interface Source {
  /** From the root of the repository. */
  path: string
  text: string
  imports: Import[]
}

const root = join(import.meta.dirname, '../..')

const statement =
  /^(?:import|export)\s+(?:(?<clause>[\w*{}\s,$]*?)\s*from\s+)?'(?<path>[^']+)'|\bimport\(\s*'(?<call>[^']+)'/gm

export function sources(patterns: readonly string[]): Source[] {
  return globSync([...patterns], { cwd: root, exclude: ['node_modules/**', '.data/**'] })
    .toSorted()
    .map(readSource)
}

function readSource(path: string): Source {
  const text = readFileSync(join(root, path), 'utf8')
  const imports = [...text.matchAll(statement)].map(({ groups = {} }) => {
    const specifier = groups.path ?? groups.call ?? ''
    const clause = groups.clause ?? ''
    const typeOnly = groups.path !== undefined && isTypeOnly(clause)
    return {
      specifier,
      file: resolveFile(path, specifier),
      typeOnly,
      names: readImportedNames(clause),
    }
  })
  return { path, text, imports }
}

function resolveFile(path: string, specifier: string): string | undefined {
  if (!specifier.startsWith('.')) return undefined
  return relative(root, join(root, path, '..', specifier))
}

function readImportedNames(clause: string): string[] {
  if (/^\s*type\b/.test(clause)) return []
  const entries = /\{([^}]*)\}/.exec(clause)?.[1]?.split(',') ?? []
  return entries
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '' && !/^type\s/.test(entry))
    .map((entry) => entry.split(/\s+as\s+/)[0] ?? entry)
}

function isTypeOnly(clause: string): boolean {
  if (/^\s*type\b/.test(clause)) return true
  const names = /^\s*\{([^}]*)\}/.exec(clause)?.[1]?.split(',') ?? ['value']
  return names.filter((name) => name.trim() !== '').every((name) => /^\s*type\s/.test(name))
}
