/** Source files with the values that they import by name. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Source {
  /** From the root of the repository. */
  path: string
  text: string
  /** As `db/users/lock.ts: lockUser`. */
  values: Set<string>
}

const root = join(import.meta.dirname, '../..')

export function sources(patterns: readonly string[]): Source[] {
  return globSync([...patterns], {
    cwd: root,
    exclude: ['node_modules/**', '.data/**', '**/dist/**'],
  })
    .toSorted()
    .map((path) => {
      const text = readFileSync(join(root, path), 'utf8')
      return { path, text, values: new Set(readValues(path, text)) }
    })
}

function readValues(path: string, text: string): string[] {
  const statements = text.matchAll(/^(?:import|export) \{([^}]*)\} from '(\.[^']+)'/gm)
  return [...statements].flatMap(([, list = '', specifier = '']) => {
    const file = join(path, '..', specifier)
    const names = list.split(',').map((entry) => entry.trim().replace(/ as .*/, ''))
    return names.filter((name) => !name.startsWith('type ')).map((name) => `${file}: ${name}`)
  })
}
