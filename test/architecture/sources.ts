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
  /** The same with types and `default`; undefined when all is imported. */
  everyName: string[] | undefined
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
      everyName: groups.call === undefined ? readEveryName(clause) : undefined,
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
  return readEntries(clause)
    .filter((entry) => !/^type\s/.test(entry))
    .map(toOriginalName)
}

function readEveryName(clause: string): string[] | undefined {
  if (clause.includes('*')) return undefined
  const isDefault = /^(?:type\s+)?\w+\s*(?:,|$)/.test(clause.trim())
  return [...readEntries(clause).map(toOriginalName), ...(isDefault ? ['default'] : [])]
}

function readEntries(clause: string): string[] {
  const entries = /\{([^}]*)\}/.exec(clause)?.[1]?.split(',') ?? []
  return entries.map((entry) => entry.trim()).filter((entry) => entry !== '')
}

/** The name in the other file. */
const toOriginalName = (entry: string) => entry.replace(/^type\s+|\s+as\s+.*$/g, '')

function isTypeOnly(clause: string): boolean {
  if (/^\s*type\b/.test(clause)) return true
  const names = /^\s*\{([^}]*)\}/.exec(clause)?.[1]?.split(',') ?? ['value']
  return names.filter((name) => name.trim() !== '').every((name) => /^\s*type\s/.test(name))
}
