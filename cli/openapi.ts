/** `npm run openapi`: writes docs/openapi.json; `--check` compares instead. Needs no database. */
import { readFileSync, writeFileSync } from 'node:fs'

import pino from 'pino'

import { buildApp } from '../app.ts'
import { readConfig } from '../plugins/config/read-config.ts'

const file = new URL('../docs/openapi.json', import.meta.url)

export const usage = 'npm run openapi -- [--check]'

type Entries = Record<string, unknown>

/** As far as its order is of interest here. */
interface Document {
  components: { schemas: Entries }
  paths: Entries
}

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

/** The document as the routes have it now; what is in the file already keeps its place there. */
export async function openapiText(): Promise<string> {
  const config = readConfig(environment, { dev: false, warn: () => {} })
  const app = await buildApp({ config, log: pino({ level: 'silent' }) })
  try {
    const document: Document = JSON.parse(JSON.stringify(await app.openapi.document()))
    return `${JSON.stringify(inPlace(document), null, 2)}\n`
  } finally {
    await app.close()
  }
}

/** Differences show what has changed, and not in which order groups of routes are registered. */
function inPlace(document: Document): Document {
  const { components, paths } = document
  const before: Partial<Document> = JSON.parse(current() ?? '{}')
  return {
    ...document,
    components: {
      ...components,
      schemas: ordered(components.schemas, before.components?.schemas),
    },
    paths: ordered(paths, before.paths),
  }
}

function ordered(entries: Entries, before: Entries = {}): Entries {
  const known = Object.keys(before).filter((key) => key in entries)
  const keys = new Set([...known, ...Object.keys(entries)])
  return Object.fromEntries([...keys].map((key) => [key, entries[key]]))
}

function current(): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
