/** `npm run openapi`: generates docs/openapi.json; `--check` only compares. Needs no database. */
import { readFileSync, writeFileSync } from 'node:fs'

import pino from 'pino'

import { everyFeature } from '../config/every-feature.ts'
import { readConfig } from '../config/read-config.ts'
import { buildApp } from '../server/app.ts'

const file = new URL('../docs/openapi.json', import.meta.url)

export const usage = 'npm run openapi -- [--check]'

type Entries = Record<string, unknown>

/** The parts whose order matters here. */
interface Document {
  components: { schemas: Entries }
  paths: Entries
}

/** The required variables; none is in the document or used for a connection. */
const environment = {
  AUTH_SITE_URL: 'http://127.0.0.1',
  AUTH_API_EXTERNAL_URL: 'http://127.0.0.1',
  AUTH_DB_DRIVER: 'postgres',
  DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
  AUTH_JWT_SECRET: 'never used for anything, but long enough',
}

/** Runs the command. With `--check` it writes nothing and sets exit code 1 when the file is outdated. */
export async function run(args: readonly string[]): Promise<void> {
  const text = await openapiText()
  if (!args.includes('--check')) return writeFileSync(file, text)
  if (current() === text) return
  console.error('docs/openapi.json is outdated: run npm run openapi')
  process.exitCode = 1
}

/** Generates the document, with every feature on; existing entries keep their position in the file. */
export async function openapiText(): Promise<string> {
  const config = readConfig({ ...environment, ...everyFeature() }, { dev: false, warn: () => {} })
  const app = await buildApp({ config, log: pino({ level: 'silent' }) })
  try {
    const document: Document = JSON.parse(JSON.stringify(await app.openapi.document()))
    return `${JSON.stringify(inPlace(document), null, 2)}\n`
  } finally {
    await app.close()
  }
}

/** Diffs show changed entries, not the registration order of route groups. */
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
