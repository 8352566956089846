import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'

import { ConfigError } from './mistake.ts'
import type { Environment } from './names.ts'

/**
 * Adds what a `.env` file says to the environment, which wins; no file is no mistake. Throws ConfigError when the file
 * is there and cannot be read.
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
    const remedy = 'it must be a text file that the server may read, or not be there at all'
    throw new ConfigError([{ variable: path, problem: `cannot be read (${code})`, remedy }])
  }
}
