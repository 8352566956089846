/** `npm run openapi`: writes docs/openapi.json; `--check` compares instead. Needs no database. */
import { readFileSync, writeFileSync } from 'node:fs'

import pino from 'pino'

import { buildApp } from '../app.ts'
import { readConfig } from '../schemas/config/read-config.ts'

const file = new URL('../docs/openapi.json', import.meta.url)

/** What a configuration must have; nothing of it is in the document, and nothing is connected to. */
const environment = {
  AUTH_SITE_URL: 'http://127.0.0.1',
  AUTH_API_EXTERNAL_URL: 'http://127.0.0.1',
  AUTH_DB_DRIVER: 'postgres',
  DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
  AUTH_JWT_SECRET: 'never used for anything, but long enough',
}

/** The command; with `--check` it writes nothing and sets exit code 1 when the file is stale. */
export async function run(args: readonly string[]): Promise<void> {
  const text = await openapiText()
  if (!args.includes('--check')) return writeFileSync(file, text)
  if (current() === text) return
  console.error('docs/openapi.json is not what the routes say: run npm run openapi')
  process.exitCode = 1
}

/** The document as the routes have it now. */
export async function openapiText(): Promise<string> {
  const config = readConfig(environment, { dev: false, warn: () => {} })
  const app = await buildApp({ config, log: pino({ level: 'silent' }) })
  try {
    return `${JSON.stringify(await app.openapi.document(), null, 2)}\n`
  } finally {
    await app.close()
  }
}

function current(): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
