import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'

import { ConfigError } from './core/config-error.ts'
import type { Environment } from './names.ts'

/**
 * Adds the variables of a `.env` file to the environment, which takes precedence; the file is optional. Throws
 * ConfigError when it cannot be read.
 */
export function withDotEnv(env: Environment, path = '.env'): Environment {
  return { ...dotEnv(path), ...env }
}

function dotEnv(path: string): Environment {
  try {
    return parseEnv(readFileSync(path, 'utf8'))
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable'
    if (code === 'ENOENT') return {}
    const hint = 'it must be a readable text file, or not exist'
    throw new ConfigError([{ variable: path, problem: `cannot be read (${code})`, hint }])
  }
}
