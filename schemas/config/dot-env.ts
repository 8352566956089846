import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'

import type { Environment } from './names.ts'

/**
 * Adds what a `.env` file says to the environment, which wins; no file is no mistake.
 * @throws when the file is there and cannot be read
 */
export function withDotEnv(env: Environment, path = '.env'): Environment {
  return { ...dotEnv(path), ...env }
}

function dotEnv(path: string): Environment {
  try {
    return parseEnv(readFileSync(path, 'utf8'))
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {}
    throw error
  }
}
